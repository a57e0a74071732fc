import { useEffect, useId, useRef, type KeyboardEvent, type ReactNode, type SyntheticEvent } from "react";
import { create } from "zustand";
import { Button } from "../../parts/Button";
import { useDraft } from "../../parts/draft";
import { Failure, api } from "../../api/request";
import { touch } from "../../api/resource";
import { cut } from "../../format";
import { CHAT } from "../../agents/agents";
import type { Conversation, Execution } from "../../api/types";

interface Props {
  /** Under which the text is kept until it is sent. */
  draft: string;
  label: string;
  busy: boolean;
  /** Ends the answer that is coming; none when nothing is. */
  onStop: (() => void) | null;
  onSend: (text: string) => void;
  onTyping?: (isEmpty: boolean) => void;
  children?: ReactNode;
}

/** The field in which a message is written. What is typed is never lost. */
export function Composer({ draft, label, busy, onStop, onSend, onTyping, children }: Props) {
  const [text, setText] = useDraft(`chat.${draft}`);
  const field = useRef<HTMLTextAreaElement>(null);
  const id = useId();
  useEffect(() => onTyping?.(text === ""), [text, onTyping]);
  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    if (busy || text.trim() === "") return;
    setText("");
    onSend(text);
    field.current?.focus();
  };
  const keys = (event: KeyboardEvent) => {
    if (event.key === "Enter" && !event.shiftKey && !event.nativeEvent.isComposing) submit(event);
    else if (event.key === "Escape" && onStop) {
      event.preventDefault();
      onStop();
    }
  };
  return (
    <form className="composer" onSubmit={submit}>
      <label className="unseen" htmlFor={id}>
        {label}
      </label>
      <textarea id={id} ref={field} className="input" rows={1} value={text} placeholder="Message" onChange={(event) => setText(event.target.value)} onKeyDown={keys} />
      {children}
      {onStop ? (
        <Button icon="stop" shortcut="Esc" onClick={onStop}>
          Stop
        </Button>
      ) : (
        <Button look="primary" type="submit" disabled={busy || text.trim() === ""} shortcut="↵">
          Send
        </Button>
      )}
    </form>
  );
}

export interface Outgoing {
  text: string;
  /** The same message is taken once, however often it is sent. */
  key: string;
  at: string;
  /** The execution that answers it; none before it began, and none in a chat. */
  execution: string | null;
  failure: Failure | null;
}

export const useOutbox = create<{ out: Record<string, Outgoing> }>()(() => ({ out: {} }));

function put(conversation: string, outgoing: Outgoing | null) {
  useOutbox.setState(({ out }) => {
    const { [conversation]: _, ...others } = out;
    return { out: outgoing ? { ...others, [conversation]: outgoing } : others };
  });
}

export function forget(conversation: string) {
  if (useOutbox.getState().out[conversation]) put(conversation, null);
}

/** Sends a message; what was said before is kept when the server cannot be reached. */
export async function send(conversation: Pick<Conversation, "id" | "kind">, text: string, key: string = crypto.randomUUID()) {
  const outgoing: Outgoing = { text, key, at: new Date().toISOString(), execution: null, failure: null };
  put(conversation.id, outgoing);
  try {
    if (conversation.kind === "chat") {
      await api.post("/api/chat", { message: text, conversation_id: conversation.id });
      put(conversation.id, null);
    } else {
      const sent = { input: text, conversationId: conversation.id };
      const { execution } = await api.post<{ execution: Execution }>("/api/agents/execute", sent, { headers: { "Idempotency-Key": key } });
      touch("/api/agents/execute");
      put(conversation.id, { ...outgoing, execution: execution.id });
    }
  } catch (fault) {
    put(conversation.id, { ...outgoing, failure: Failure.from(fault) });
  }
  touch("/api/conversations");
}

/** Longest title that a conversation takes from its first message, in characters. */
const TITLE = 80;

/** Begins a conversation with an agent, or with the chat for designs and components. */
export async function begin(agent: string, first: string): Promise<Conversation> {
  const line = first.trim().split("\n")[0] ?? "";
  const { conversation } = await api.post<{ conversation: Conversation }>("/api/conversations/create", { agent_id: agent, title: cut(line, TITLE) });
  touch("/api/conversations");
  return { ...conversation, kind: conversation.kind ?? (agent === CHAT ? "chat" : "agent") };
}

export function cancel(execution: string) {
  const again = () => touch("/api/");
  return api.post(`/api/agents/execution/${encodeURIComponent(execution)}/cancel`).then(again, again);
}
