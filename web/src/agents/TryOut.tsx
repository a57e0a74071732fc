import { useState } from "react";
import type { Posted, Agent } from "../api/types";
import { plural } from "../format";
import { useRouted } from "./agents";
import { ScoreView } from "./ScoreView";
import type { Draft } from "./draft";
import { useResource, useLate } from "../api/resource";
import { Field } from "../parts/Field";

interface Props {
  /** None for an agent that is not kept yet. */
  id: string | null;
  draft: Draft;
  agents: readonly Agent[];
}

type Tried = Posted<"/api/route/try">;

/** The draft against a typed message and against the last real ones. Nothing is run. */
export function TryOut({ id, draft, agents }: Props) {
  const [message, setMessage] = useState("");
  const { name, description, objective, role, tags } = draft;
  // The fields that the router looks at.
  const sent = { ...(id !== null && { id }), name: name || "draft", description, objective, role, tags };
  const preview = useRouted({ message, draft: sent });
  const named = [...agents.filter((one) => one.id !== id), { id: id ?? "draft", name: name || "This agent" }];
  return (
    <section className="section try-out" aria-label="Which messages reach it">
      <Field label="Try it" value={message} placeholder="A message as people write it" onText={setMessage} />
      {preview.failure && <p className="small bad">{preview.failure.message}</p>}
      {preview.routed && (
        <div className="try-out-score">
          <ScoreView message={preview.message} decision={preview.routed.route} agents={named} left={preview.routed.notScored} />
        </div>
      )}
      <RealMessages draft={sent} agents={named} />
    </section>
  );
}

/** How long edits must pause before the real messages are scored again, in milliseconds. */
const PAUSE = 400;

function RealMessages({ draft, agents }: { draft: Record<string, unknown>; agents: readonly Pick<Agent, "id" | "name">[] }) {
  const { data: tried, failure } = useResource<Tried>("/api/route/try", { body: useLate(JSON.stringify({ draft }), PAUSE), keep: true });
  if (failure) return <p className="small bad">{failure.message}</p>;
  if (!tried) return null;
  if (tried.messages === 0) return <p className="small muted">No real messages yet to compare with.</p>;
  const name = (id: string) => agents.find((one) => one.id === id)?.name ?? id;
  const last = tried.messages === 1 ? "the last message" : `the last ${tried.messages} messages`;
  return (
    <div className="try-out-real">
      <p>
        {`Would reach ${tried.reachesNow} of ${last} `}
        <span className="muted">(was {tried.reachedBefore})</span>
      </p>
      <Moved title="gained" list={tried.gained.map((one) => ({ text: one.text, other: `from ${name(one.from)}` }))} />
      <Moved title="lost" list={tried.lost.map((one) => ({ text: one.text, other: `to ${name(one.to)}` }))} />
    </div>
  );
}

function Moved({ title, list }: { title: string; list: { text: string; other: string }[] }) {
  if (list.length === 0) return null;
  return (
    <details>
      <summary className="link">{`${plural(list.length, "message")} ${title}`}</summary>
      <ul>
        {list.map((one, at) => (
          <li key={at} className="try-out-moved">
            <span className="ell">{one.text}</span>
            <span className="small muted">{one.other}</span>
          </li>
        ))}
      </ul>
    </details>
  );
}
