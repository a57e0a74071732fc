import { useMemo } from "react";
import { useResource } from "../../../api/resource";
import type { TaskAttempt } from "../../../api/work";
import { plural } from "../../../format/numbers";
import { Loaded } from "../../../parts/States";
import { Link } from "wouter";
import { difference, underEntry, type Change } from "./difference";

/** How many lines are shown around what differs. */
const AROUND = 3;

interface Props {
  task: string;
  /** The last try that began with a whole prompt, not with a repair. */
  sent: TaskAttempt;
  now: string;
  /** The entry of the manifest that it names. */
  entry: string;
  /** The entries that earlier prompts named. */
  entries: string[];
}

/** What its agent was sent last, against what it would be sent now. */
export default function PromptChanges({ task, sent, now, entry, entries }: Props) {
  const [run, number] = [encodeURIComponent(sent.run), sent.attempt];
  const before = useResource<{ text: string }>(`/api/runs/${run}/tasks/${encodeURIComponent(task)}/attempts/${number}/prompt`);
  return (
    <div className="section" id="prompt-changes">
      <h3>
        Since it was sent last
        <span className="aside">
          <Link className="link" href={`/runs/${run}?task=${task}&attempt=${number}&tab=prompt`}>
            attempt {number}
          </Link>
        </span>
      </h3>
      <Loaded of={before} rows={4}>
        {({ text }) => <Sent {...underEntry(text, entries, entry)} now={now} entry={entry} />}
      </Loaded>
    </div>
  );
}

function Sent({ text, named, now, entry }: { text: string; named: string | null; now: string; entry: string }) {
  return (
    <>
      <Changes before={text} now={now} />
      {named !== null && (
        <p className="small muted">
          Its entry is a new one: <span className="mono">{entry}</span>, where it was <span className="mono">{named}</span>.
        </p>
      )}
    </>
  );
}

function Changes({ before, now }: { before: string; now: string }) {
  const changes = useMemo(() => difference(before, now), [before, now]);
  const lines = (kind: Change["kind"]) => changes.reduce((sum, change) => sum + (change.kind === kind ? change.lines.length : 0), 0);
  if (changes.every((change) => change.kind === "same")) return <p className="muted">It would be sent the same again.</p>;
  return (
    <>
      <p className="small muted">
        {plural(lines("gone"), "line")} gone, {plural(lines("new"), "line")} new.
      </p>
      <div className="code changed" tabIndex={0} role="group" aria-label="What differs">
        {changes.map((change, at) => (
          <Part key={at} change={change} first={at === 0} last={at === changes.length - 1} />
        ))}
      </div>
    </>
  );
}

function Part({ change, first, last }: { change: Change; first: boolean; last: boolean }) {
  if (change.kind === "gone") return <del>{signed("- ", change.lines)}</del>;
  if (change.kind === "new") return <ins>{signed("+ ", change.lines)}</ins>;
  const head = first ? [] : change.lines.slice(0, AROUND);
  const tail = last ? [] : change.lines.slice(Math.max(head.length, change.lines.length - AROUND));
  const hidden = change.lines.length - head.length - tail.length;
  return (
    <>
      {head.length > 0 && <span>{signed("  ", head)}</span>}
      {hidden > 0 && <span className="muted">{`… ${plural(hidden, "line")} the same\n`}</span>}
      {tail.length > 0 && <span>{signed("  ", tail)}</span>}
    </>
  );
}

function signed(sign: string, lines: string[]) {
  return lines.map((line) => `${sign}${line}\n`).join("");
}
