import { useCallback, useEffect, useLayoutEffect, useRef, useState } from "react";
import { useConnection } from "../../api/connection";
import { useEvents } from "../../api/events";
import { path } from "../../api/request";
import { touch, useResource } from "../../api/resource";
import { askedFor } from "../../agents/ask";
import { AskCard } from "../../agents/AskCard";
import { isOver, useExecutions, type Registry } from "../../agents/data";
import { Message } from "../../agents/Message";
import { Monogram } from "../../agents/Monogram";
import { SUPERVISOR } from "../../agents/names";
import { usePieces } from "../../agents/pieces";
import type { Conversation, Execution, Said, Talk } from "../../agents/types";
import { Duration } from "../../format";
import { Button } from "../../parts/Button";
import { Absent, Loaded, sentence } from "../../parts/States";
import { Command } from "../../parts/Command";
import { Link } from "wouter";
import { useKeys } from "../../shell/keys";
import { Composer } from "./Composer";
import { Details } from "./Details";
import { cancel, forget, send, useOutbox, type Outgoing } from "./outbox";
import { ThreadEntry } from "./ThreadEntry";
import { TalkMenu } from "./TalkMenu";
import { entries } from "./thread";

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
      <Loaded
        of={talk}
        rows={8}
        absent={
          <Absent id={id}>
            <Link className="link" href="/agents/chat">
              Back to chat
            </Link>
          </Absent>
        }
      >
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
            <p className="thread-more">
              <Button small onClick={onMore}>
                Show earlier messages
              </Button>
            </p>
          )}
          {messages.length === 0 && !outgoing && <p className="muted thread-none">Nothing was said yet.</p>}
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
        <p className="muted thread-none">This conversation is archived: it can be read and not gone on with.</p>
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
      <span className="strong ell">{agent ? agent.name : conversation.agent_id === SUPERVISOR ? "Whoever fits" : conversation.agent_id}</span>
      <span className="muted">{conversation.agent_id === SUPERVISOR ? "each message is routed" : "direct"}</span>
    </span>
  );
}

/** The execution whose answer is still to come, also one that began before this page was there. */
function waiting({ conversation, messages }: Talk, outgoing: Outgoing | undefined, executions: readonly Execution[]): string | null {
  const isIt = (one: Execution) => (outgoing ? one.id === outgoing.execution : one.conversationId === conversation.id && !isOver(one));
  const execution = executions.find(isIt);
  const id = outgoing ? outgoing.execution : (execution?.id ?? null);
  // An agent that could not answer says so, and then somebody else answers in its place.
  const isThere = messages.some((one) => one.type !== "user" && one.execution_id === id && one.metadata.error === undefined);
  const isStopped = execution?.status === "cancelled" || execution?.status === "interrupted";
  return id === null || isThere || isStopped ? null : id;
}

/** The message that nobody answered, where nothing was said since. */
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
          <button type="button" className="link" onClick={onRetry}>
            Retry
          </button>
          <button type="button" className="link" onClick={onDrop}>
            Drop
          </button>
        </div>
      )}
    </>
  );
}

/** The answer as it comes. */
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
