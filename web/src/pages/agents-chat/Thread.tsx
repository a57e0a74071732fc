import { useCallback, useEffect, useLayoutEffect, useRef, useState, type ReactNode } from "react";
import { useConnection, path, api } from "../../api/request";
import { useEvents } from "../../api/events";
import { touch, useResource } from "../../api/resource";
import { askedFor, AskCard } from "../../agents/AskCard";
import { isOver, useExecutions, type Registry, Monogram, SUPERVISOR, bareOutput } from "../../agents/agents";
import { Message, DelegationLine, ToolCall } from "../../agents/Message";
import { usePieces } from "../../agents/pieces";
import type { Conversation, Execution, Said, Talk } from "../../api/types";
import { Duration, timeOfDay, Cost, Id, Tokens, plural, Ago } from "../../format";
import { Button, Command, TextButton } from "../../parts/Button";
import { Absent, Loaded, sentence } from "../../parts/States";
import { useKeys } from "../../shell/keys";
import { Composer, cancel, forget, send, useOutbox, type Outgoing } from "./Composer";
import { entries, chatAgent, senderOf, type Entry } from "./thread";
import { TextLink, navigate } from "../../router";
import { Confirm, FormDialog } from "../../parts/Dialog";
import { useDraft } from "../../parts/draft";
import { Menu } from "../../parts/Menu";
import { Term } from "../../parts/Facts";
import { Field } from "../../parts/Field";

/** How many messages come at once, and the most that the server gives. */
const PAGE = 50;
const MOST = 500;

/** One conversation: what was said, what waits, and the field for the next message. */
export function Thread({ id, registry }: { id: string; registry: Registry }) {
  const [limit, setLimit] = useState(PAGE);
  const talk = useResource<Talk>(path(`/api/conversations/${encodeURIComponent(id)}`, { limit }), {
    on: (event) => (event.kind === "conversation" && event.data["conversationId"] === id) || event.data["type"] === "execution_end",
    keep: true,
  });
  return (
    <section className="thread" aria-label="Conversation">
      <Loaded of={talk} rows={8} absent={<Absent id={id} back={<TextLink href="/agents/chat">Back to chat</TextLink>} />}>
        {(data) => <Open talk={data} registry={registry} onMore={data.total > data.messages.length && limit < MOST ? () => setLimit(limit + PAGE) : null} />}
      </Loaded>
    </section>
  );
}

function Open({ talk, registry, onMore }: { talk: Talk; registry: Registry; onMore: (() => void) | null }) {
  const { conversation, messages } = talk;
  const executions = useExecutions(100);
  const outgoing = useOutbox((box) => box.out[conversation.id]);
  const known = new Map(executions.data?.executions.map((one) => [one.id, one]));
  const waitsFor = waiting(talk, outgoing, executions.data?.executions ?? []);
  const pieces = usePieces(waitsFor);
  const [isEmpty, setEmpty] = useState(true);
  const scroller = useStickyScroll(`${messages.at(-1)?.id} ${outgoing?.key} ${pieces.length}`, messages[0]?.id);
  useEffect(() => {
    if (outgoing?.execution && waitsFor === null) forget(conversation.id);
  }, [outgoing, waitsFor, conversation.id]);
  useEvents((events) => {
    if (waitsFor !== null && events.some((event) => event.data["runId"] === waitsFor && event.data["type"] === "execution_end")) touch("/api/conversations/");
  });
  useKeys("Answer", waitsFor === null ? [] : [{ keys: "Escape", does: "Stop the answer", run: () => void cancel(waitsFor) }]);
  const answer = useCallback((text: string) => void send(conversation, text), [conversation]);
  const isArchived = conversation.status === "archived";
  const list = entries(messages);
  const last = messages.at(-1);
  const unanswered = outgoing || isArchived ? null : unansweredIn(messages);
  const open = talk.pending && last?.type === "agent" ? last : null;
  return (
    <>
      <header className="thread-head">
        <Partner conversation={conversation} registry={registry} />
        <span className="row">
          <Details talk={talk} executions={executions.data?.executions ?? []} />
          <TalkMenu conversation={conversation} />
        </span>
      </header>
      <div className="thread-scroll" ref={scroller} tabIndex={0} role="region" aria-label="Messages">
        <div className="thread-column">
          {onMore && (
            <p className="padded">
              <Button small onClick={onMore}>
                Show earlier messages
              </Button>
            </p>
          )}
          {messages.length === 0 && !outgoing && <p className="muted padded">Nothing was said yet.</p>}
          {list.map((entry) => (
            <ThreadEntry
              key={entry.message.id}
              entry={entry}
              registry={registry}
              execution={known.get(entry.message.execution_id ?? "")}
              isOpen={entry.message === open}
              onRetry={unanswered !== null && entry.message === last ? () => answer(unanswered) : null}
            />
          ))}
          {open && talk.pending && <AskCard key={open.id} asked={askedFor(talk.pending, open.content)} takesFocus={isEmpty} busy={outgoing !== undefined} onAnswer={answer} />}
          {outgoing && (
            <Going
              outgoing={outgoing}
              isShown={messages.some((one) => one.execution_id !== null && one.execution_id === outgoing.execution)}
              onRetry={() => void send(conversation, outgoing.text, outgoing.key)}
              onDrop={() => forget(conversation.id)}
            />
          )}
          {waitsFor !== null && <Coming pieces={pieces} execution={known.get(waitsFor)} registry={registry} />}
        </div>
      </div>
      {isArchived ? (
        <p className="muted padded">This conversation is archived and read-only.</p>
      ) : (
        <Composer
          draft={conversation.id}
          label="Message"
          busy={waitsFor !== null || (outgoing !== undefined && outgoing.failure === null)}
          onStop={waitsFor === null ? null : () => void cancel(waitsFor)}
          onSend={answer}
          onTyping={setEmpty}
        />
      )}
    </>
  );
}

/** With whom it is, and whether each message is routed. */
function Partner({ conversation, registry }: { conversation: Conversation; registry: Registry }) {
  if (conversation.kind === "chat") return <span className="strong">Designs and components</span>;
  const agent = conversation.agent_id === SUPERVISOR ? undefined : registry.of(conversation.agent_id);
  return (
    <span className="row">
      {agent && <Monogram agent={agent} />}
      <span className="strong ell">{agent ? agent.name : conversation.agent_id === SUPERVISOR ? "Best match" : conversation.agent_id}</span>
      <span className="muted">{conversation.agent_id === SUPERVISOR ? "each message is routed" : "direct"}</span>
    </span>
  );
}

/** The execution whose answer is still to come, also one that began before this page was there. */
function waiting({ conversation, messages }: Talk, outgoing: Outgoing | undefined, executions: readonly Execution[]): string | null {
  const isIt = (one: Execution) => (outgoing ? one.id === outgoing.execution : one.conversationId === conversation.id && !isOver(one));
  const execution = executions.find(isIt);
  const id = outgoing ? outgoing.execution : (execution?.id ?? null);
  // An agent that could not answer says so, and then another one answers in its place.
  const isThere = messages.some((one) => one.type !== "user" && one.execution_id === id && one.metadata.error === undefined);
  const isStopped = execution?.status === "cancelled" || execution?.status === "interrupted";
  return id === null || isThere || isStopped ? null : id;
}

/** The last message, if it has no answer. */
function unansweredIn(messages: readonly Said[]): string | null {
  const last = messages.at(-1);
  if (last?.type !== "system") return null;
  return messages.filter((one) => one.type === "user" && one.execution_id === last.execution_id).at(-1)?.content ?? null;
}

/** A message on its way, or why it did not get there. */
function Going({ outgoing, isShown, onRetry, onDrop }: { outgoing: Outgoing; isShown: boolean; onRetry: () => void; onDrop: () => void }) {
  const { failure } = outgoing;
  return (
    <>
      {!isShown && <Message agent={null} at={null} continues={false} text={outgoing.text} pending={outgoing.execution === null} />}
      {failure && (
        <div className="system-line bad" role="alert">
          <span>{sentence(failure.message)}</span>
          {failure.fix && <Command line={failure.fix} />}
          <TextButton onClick={onRetry}>Retry</TextButton>
          <TextButton onClick={onDrop}>Drop</TextButton>
        </div>
      )}
    </>
  );
}

function Coming({ pieces, execution, registry }: { pieces: string; execution: Execution | undefined; registry: Registry }) {
  const lost = useConnection((connection) => connection.line === "reconnecting" || connection.line === "polling");
  const agent = registry.of(execution?.delegatedTo) ?? registry.agents[0];
  return (
    <>
      {pieces !== "" && <Message agent={agent ?? { name: "cleo", color: "" }} at={null} continues={false} text={pieces} streaming />}
      <p className="system-line">
        {lost
          ? "Connection lost, the answer continues on the server."
          : execution && (
              <>
                {agent?.name ?? "finalize"} answers, <Duration since={execution.startTime} />
              </>
            )}
      </p>
    </>
  );
}

/** Keeps the end in sight while it is in sight, and what is read in its place when earlier messages come. */
function useStickyScroll(end: string, first: string | undefined) {
  const scroller = useRef<HTMLDivElement>(null);
  const before = useRef({ first, height: 0, isAtEnd: true });
  useEffect(() => {
    const element = scroller.current;
    if (!element) return;
    const heard = () => {
      before.current.isAtEnd = element.scrollHeight - element.scrollTop - element.clientHeight < 48;
    };
    element.addEventListener("scroll", heard, { passive: true });
    return () => element.removeEventListener("scroll", heard);
  }, []);
  useLayoutEffect(() => {
    const element = scroller.current;
    if (!element) return;
    const then = before.current;
    if (then.first !== undefined && then.first !== first) element.scrollTop += element.scrollHeight - then.height;
    else if (then.isAtEnd) element.scrollTop = element.scrollHeight;
    before.current = { ...then, first, height: element.scrollHeight };
  }, [end, first]);
  return scroller;
}

interface Props {
  entry: Entry;
  registry: Registry;
  execution: Execution | undefined;
  /** Its question waits: the card below says it. */
  isOpen: boolean;
  /** Sends the message without an answer again. */
  onRetry: (() => void) | null;
}

/** One message with what belongs to it: the delegation before it, the tools that were called. */
function ThreadEntry({ entry, registry, execution, isOpen, onRetry }: Props) {
  const { message, continues, outcome } = entry;
  if (message.type === "user") return <Message agent={null} at={message.created_at} continues={continues} text={message.content} />;
  // What cleo itself says: why there is no answer, and where to look.
  if (message.type === "system")
    return (
      <p className="system-line bad">
        <span className="text">{message.content}</span>
        {message.execution_id !== null && <TextLink href={`/agents/architecture?execution=${encodeURIComponent(message.execution_id)}`}>See its steps</TextLink>}
        {onRetry && <TextButton onClick={onRetry}>Retry</TextButton>}
      </p>
    );
  const calls = message.metadata.tool_calls ?? [];
  const sender = senderOf(message);
  const agent = chatAgent(sender) ?? registry.of(sender) ?? { name: sender || "cleo", color: "" };
  const isOffline = message.metadata.answeredBy === "offline";
  return (
    <>
      {execution && <DelegationLine execution={execution} agents={registry.agents} />}
      {calls.map((call, at) => (
        <ToolCall key={at} call={call} />
      ))}
      {isOffline ? (
        <p className="system-line text">{sentence(bareOutput(message.content))}</p>
      ) : (
        !isOpen && <Message agent={agent} at={message.created_at} continues={continues && calls.length === 0} text={outcome ? (message.content.split("\n")[0] ?? "") : message.content} />
      )}
      {outcome && (
        <p className="system-line">
          <span className="text">
            {outcome.text} <time dateTime={outcome.at}>{timeOfDay(outcome.at)}</time>
            {outcome.what !== null && `, ${outcome.what}`}
          </span>
        </p>
      )}
    </>
  );
}

function TalkMenu({ conversation }: { conversation: Conversation }) {
  const [asks, setAsks] = useState<"title" | "archive" | null>(null);
  const put = async (change: Record<string, string>) => {
    await api.put(`/api/conversations/${encodeURIComponent(conversation.id)}`, change);
    touch("/api/conversations");
    if (change["status"]) navigate("/agents/chat");
  };
  if (conversation.status === "archived") return null;
  return (
    <>
      <Menu
        label="Actions for the conversation"
        offer="this conversation"
        trigger={<Button look="ghost" small icon="more" aria-label="Actions for the conversation" />}
        entries={[
          { label: "Rename…", icon: "edit", onSelect: () => setAsks("title") },
          { label: "Archive…", onSelect: () => setAsks("archive") },
        ]}
      />
      {asks === "title" && <Title conversation={conversation} onSave={(title) => put({ title })} onClose={() => setAsks(null)} />}
      {asks === "archive" && (
        <Confirm title="Archive this conversation?" action="Archive" act={() => put({ status: "archived" })} onClose={() => setAsks(null)}>
          <p>It leaves the list. It can still be read at its address, and nothing can be added to it.</p>
        </Confirm>
      )}
    </>
  );
}

function Title({ conversation, onSave, onClose }: { conversation: Conversation; onSave: (title: string) => Promise<void>; onClose: () => void }) {
  const [title, setTitle] = useDraft(`title.${conversation.id}`, conversation.title ?? "");
  const rename = async () => {
    await onSave(title);
    setTitle(conversation.title ?? "");
  };
  return (
    <FormDialog title="Rename the conversation" action="Rename" other={<Button onClick={onClose}>Keep</Button>} act={rename} onClose={onClose}>
      <Field label="Title" value={title} onText={setTitle} />
    </FormDialog>
  );
}

/** What a conversation used, folded. Sums are of the answers that are known here, and say so. */
function Details({ talk, executions }: { talk: Talk; executions: readonly Execution[] }) {
  const { conversation, messages, total } = talk;
  const mine = executions.filter((one) => one.conversationId === conversation.id);
  const calls = messages.flatMap((one) => one.metadata.tool_calls ?? []);
  return (
    <details className="thread-details">
      <summary className="button ghost small">Details</summary>
      <dl className="facts">
        <Term name="Conversation" value={<Id value={conversation.id} />} />
        <Term name="Begun" value={<Ago at={conversation.created_at} />} />
        <Term name="Messages">{total}</Term>
        <Term name="Tools called">{plural(calls.length, "call")} in what is shown</Term>
        {conversation.kind === "agent" && (
          <>
            <Reported name="Tokens" values={mine.map((one) => one.metrics.totalTokens)} as={(n) => <Tokens n={n} />} />
            <Reported name="Cost" values={mine.map((one) => one.metrics.cost)} as={(usd) => <Cost usd={usd} />} />
          </>
        )}
      </dl>
    </details>
  );
}

/** The sum of what is known; nothing when nothing was counted. */
function Reported({ name, values, as }: { name: string; values: readonly (number | null)[]; as: (sum: number | null) => ReactNode }) {
  const known = values.filter((value) => value !== null);
  return (
    <Term name={name}>
      {as(known.length === 0 ? null : known.reduce((all, one) => all + one, 0))} <span className="muted small">{`reported by ${known.length} of ${plural(values.length, "answer")}`}</span>
    </Term>
  );
}
