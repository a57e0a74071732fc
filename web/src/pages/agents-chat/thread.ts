/** From the messages of a conversation to what stands in the thread: questions that were answered
 * become one line, and what belongs to one sender stands together. */

import { CHAT_AGENTS } from "../../agents/names";
import type { Said } from "../../agents/types";
import { outcomeOf, type Outcome } from "./settled";

export interface Entry {
  message: Said;
  continues: boolean;
  /** What became of the question that the message asked. */
  outcome: Outcome | null;
}

export function entries(messages: readonly Said[]): Entry[] {
  const found: Entry[] = [];
  for (let at = 0; at < messages.length; at++) {
    const message = messages[at];
    if (!message) continue;
    const answer = messages[at + 1];
    const { pending } = message.metadata;
    const outcome = pending && answer?.type === "user" ? outcomeOf(pending, answer, messages[at + 2]) : null;
    found.push({ message, continues: continues(found.at(-1), message), outcome });
    // The answer is told by the line under the question.
    if (outcome?.isWhole) at++;
  }
  return found;
}

function continues(before: Entry | undefined, message: Said): boolean {
  if (!before || before.outcome || before.message.type !== message.type || message.type === "system") return false;
  return senderOf(before.message) === senderOf(message);
}

/** The id of who says something. */
export function senderOf(message: Said): string {
  return message.metadata.agent ?? message.metadata.sender ?? "";
}

/** The name of an agent of a chat, who is no agent of the registry. */
export function chatAgent(id: string): { name: string; color: string } | null {
  const name = CHAT_AGENTS[id];
  return name ? { name, color: "#6B7280" } : null;
}

/** The day of a moment, as people say it. */
export function dayOf(moment: string, now: number): string {
  const midnight = new Date(now).setHours(0, 0, 0, 0);
  const then = Date.parse(moment);
  if (then >= midnight) return "Today";
  if (then >= midnight - 86_400_000) return "Yesterday";
  return new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric" }).format(then);
}
