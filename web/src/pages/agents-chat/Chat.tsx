import { useState, Fragment } from "react";
import { path } from "../../api/request";
import { useResource, type Resource, useAct } from "../../api/resource";
import { useAgents, CHAT, SUPERVISOR } from "../../agents/agents";
import { useHearing } from "../../agents/pieces";
import type { Conversation, Agent } from "../../api/types";
import { Button } from "../../parts/Button";
import { Icon } from "../../parts/Icon";
import { navigate, usePlace, Link } from "../../router";
import type { ViewProps } from "../../routes";
import { useKeys } from "../../shell/keys";
import { keepDraft } from "../../parts/draft";
import { Page } from "../../shell/Page";
import { Thread } from "./Thread";
import { At, timeOfDay, useNow } from "../../format";
import { Empty, Loaded, Trouble } from "../../parts/States";
import { StatusGlyph } from "../../parts/StatusGlyph";
import { dayOf } from "./thread";
import { Composer, begin, send } from "./Composer";
import { Field } from "../../parts/Field";
import "./chat.css";

/** How many conversations come at once. */
const PAGE = 50;

export default function Chat({ params }: ViewProps) {
  const id = params["id"] ?? null;
  const registry = useAgents();
  useHearing();
  const [most, setMost] = useState(PAGE);
  const talks = useResource<{ conversations: Conversation[]; total: number }>(path("/api/conversations", { limit: most, status: "active" }), {
    on: (event) => event.kind === "conversation",
    keep: true,
  });
  const list = talks.data?.conversations ?? [];
  const current = list.find((one) => one.id === id);
  const walk = (step: number) => {
    const next = list[list.findIndex((one) => one.id === id) + step];
    if (next) navigate(`/agents/chat/${next.id}`);
  };
  useKeys("Chat", [
    { keys: "N", does: "New conversation", run: () => navigate("/agents/chat") },
    { keys: "J", does: "Next conversation", run: () => walk(1) },
    { keys: "K", does: "Conversation before", run: () => walk(-1) },
  ]);
  return (
    <Page
      title={id === null ? "Chat" : (current?.title ?? "Conversation")}
      crumbs={[{ label: "Agents", href: "/agents" }, ...(id === null ? [] : [{ label: "Chat", href: "/agents/chat" }])]}
      actions={
        id !== null && (
          <Link className="button" href="/agents/chat">
            <Icon name="plus" />
            New
          </Link>
        )
      }
    >
      <div className={id === null ? "chat" : "chat reading"}>
        <nav className="chat-list" aria-label="Conversations">
          <ConversationList talks={talks} current={id} name={registry.name} />
          {talks.data && talks.data.total > list.length && (
            <p className="padded">
              <Button small onClick={() => setMost(most + PAGE)}>
                Show older
              </Button>
            </p>
          )}
        </nav>
        {id === null ? <NewTalk agents={registry.agents} known={registry.resource.data !== undefined} /> : <Thread key={id} id={id} registry={registry} />}
      </div>
    </Page>
  );
}

/** The conversations by day, that with the last word first. */
function ConversationList({ talks, current, name }: { talks: Resource<{ conversations: Conversation[]; total: number }>; current: string | null; name: (id: string) => string }) {
  const now = useNow();
  return (
    <Loaded of={talks}>
      {({ conversations }) =>
        conversations.length === 0 ? (
          <Empty>No conversations yet. Write the first message.</Empty>
        ) : (
          <ul>
            {conversations.map((one, at) => {
              const day = dayOf(one.last_message_at, now);
              const before = conversations[at - 1];
              const isFirst = !before || dayOf(before.last_message_at, now) !== day;
              return (
                <Fragment key={one.id}>
                  {isFirst && <li className="chat-day caption">{day}</li>}
                  <li>
                    <Row one={one} isCurrent={one.id === current} partner={partner(one, name)} />
                  </li>
                </Fragment>
              );
            })}
          </ul>
        )
      }
    </Loaded>
  );
}

function partner(one: Conversation, name: (id: string) => string): string {
  if (one.kind === "chat" || one.agent_id === CHAT) return "designs and components";
  return one.agent_id === SUPERVISOR ? "routed" : name(one.agent_id);
}

function Row({ one, isCurrent, partner }: { one: Conversation; isCurrent: boolean; partner: string }) {
  return (
    <Link className="chat-row" href={`/agents/chat/${encodeURIComponent(one.id)}`} aria-current={isCurrent ? "page" : undefined}>
      <span className="ell grow">{one.title ?? "Untitled"}</span>
      {one.waiting && <StatusGlyph state="needsYou" label="waits for your answer" />}
      <At at={one.last_message_at} text={timeOfDay(one.last_message_at).split(" ").at(-1)} />
      <span className="small muted ell chat-partner">{partner}</span>
    </Link>
  );
}

const WITH: Record<string, string> = {
  [SUPERVISOR]: "Each message goes to the agent whose words and tags it names. The reasons stand between the messages.",
  [CHAT]:
    'Shows and changes the design and the components of a client. Every change is shown and asked for before it is made. Say "help" to see the sentences that it understands, with your own ids and titles.',
};

/** The beginning of a conversation: with whom, and the first message. */
function NewTalk({ agents, known }: { agents: readonly Agent[]; known: boolean }) {
  const { query } = usePlace();
  const [wanted, setWanted] = useState(query.get("agent") ?? SUPERVISOR);
  const offered = agents.filter((one) => one.id !== SUPERVISOR && one.status === "active");
  const missing = known && !Object.hasOwn(WITH, wanted) && !offered.some((one) => one.id === wanted);
  const agent = missing ? SUPERVISOR : wanted;
  const chosen = agents.find((one) => one.id === wanted);
  const [start, { busy, failure }] = useAct(async (text: string) => {
    const conversation = await begin(agent, text).catch((fault: unknown) => {
      keepDraft("chat.new", text);
      throw fault;
    });
    void send(conversation, text);
    navigate(`/agents/chat/${encodeURIComponent(conversation.id)}`);
  });
  return (
    <section className="thread" aria-label="New conversation">
      <div className="thread-scroll">
        <div className="thread-column new-talk">
          <Field
            label="Talk to"
            value={agent}
            onText={setWanted}
            options={[{ value: SUPERVISOR, label: "Best match (routed)" }, { value: CHAT, label: "Designs and components" }, ...offered.map(({ id, name }) => ({ value: id, label: name }))]}
          />
          {missing && (
            <p className="notice" role="status">
              {chosen ? `${chosen.name} is ${chosen.status}.` : `${wanted} does not exist here.`} The message goes to the best match.
            </p>
          )}
          <p className="muted">{WITH[agent] ?? chosen?.description ?? ""}</p>
          {failure && <Trouble failure={failure} />}
        </div>
      </div>
      <Composer key={failure ? "again" : "first"} draft="new" label="First message" busy={busy} onStop={null} onSend={start} />
    </section>
  );
}
