/** What is on its way to the server, by conversation. It stays while pages come and go. */

import { create } from "zustand";
import { Failure } from "../../api/failure";
import { api } from "../../api/request";
import { touch } from "../../api/resource";
import { CHAT } from "../../agents/names";
import type { Conversation, Execution } from "../../agents/types";

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
    if (conversation.kind === "chat") await said(conversation.id, text);
    else put(conversation.id, { ...outgoing, execution: await executed(conversation.id, text, key) });
  } catch (fault) {
    put(conversation.id, { ...outgoing, failure: Failure.from(fault) });
  }
  touch("/api/conversations");
}

async function said(id: string, message: string) {
  await api.post("/api/chat", { message, conversation_id: id });
  put(id, null);
}

async function executed(id: string, input: string, key: string): Promise<string> {
  const sent = { input, conversationId: id };
  const { execution } = await api.post<{ execution: Execution }>("/api/agents/execute", sent, { headers: { "Idempotency-Key": key } });
  touch("/api/agents/execute");
  return execution.id;
}

/** Longest title that a conversation takes from its first message, in characters. */
const TITLE = 80;

/** Begins a conversation with an agent, or with the chat for designs and components. */
export async function begin(agent: string, first: string): Promise<Conversation> {
  const line = first.trim().split("\n")[0] ?? "";
  const title = [...line].length > TITLE ? `${[...line].slice(0, TITLE - 1).join("")}…` : line;
  const { conversation } = await api.post<{ conversation: Conversation }>("/api/conversations/create", { agent_id: agent, title });
  touch("/api/conversations");
  return { ...conversation, kind: conversation.kind ?? (agent === CHAT ? "chat" : "agent") };
}

export function cancel(execution: string) {
  return api.post(`/api/agents/execution/${encodeURIComponent(execution)}/cancel`).then(
    () => touch("/api/"),
    () => touch("/api/"),
  );
}
