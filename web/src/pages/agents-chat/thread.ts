/** From the messages of a conversation to the items of the thread: questions that were answered
 * become one line, and what belongs to one sender stands together. */
import { CHAT_AGENTS } from "../../agents/agents";
import { word } from "../../agents/AskCard";
import { record, text } from "../../api/request";
import { cut } from "../../format";
import type { Said, Pending } from "../../api/types";

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

interface Outcome {
  text: string;
  what: string | null;
  at: string;
  /** Whether it says all that the answer said. */
  isWhole: boolean;
}

function outcomeOf(pending: Pending, answer: Said, reply: Said | undefined): Outcome | null {
  if (reply?.type !== "agent") return null;
  const put = (text: string, what: string | null, isWhole: boolean) => ({ text, what, at: answer.created_at, isWhole });
  const question = `The open question about ${subject(pending)}`;
  const chosen = chosenIn(pending, answer.content.trim(), reply);
  switch (reply.metadata.settled) {
    case "confirmed":
      return put("Confirmed", done(pending, reply), true);
    case "chosen":
      return put("Chosen", chosen, chosen !== null);
    case "cancelled":
      return put("Cancelled", null, true);
    case "dropped":
      return put(`${question} was dropped`, null, false);
    case "expired":
      return put(`${question} had expired`, null, false);
    default:
      // It is still open.
      return null;
  }
}

/** The chosen component: that of the reply, or else by its place, its id or its title. */
function chosenIn(pending: Pending, text: string, reply: Said): string | null {
  const { candidates, options } = pending;
  const place = Number(text.replace(/^#|^number /i, ""));
  const calls = reply.metadata.tool_calls ?? [];
  const named = [reply.metadata.pending?.args["componentId"], ...calls.map((call) => call.args["componentId"]), candidates[place - 1], text];
  const titled = options.find((one) => one.title !== "" && one.title.toLowerCase() === text.toLowerCase());
  const id = named.map(word).find((one) => candidates.includes(one)) ?? titled?.id;
  if (id === undefined) return null;
  const title = options.find((one) => one.id === id)?.title ?? "";
  return `component ${id}${title === "" ? "" : ` ${cut(title, 60)}`}`;
}

function subject(pending: Pending): string {
  if (pending.kind === "select") return "which component is meant";
  if (pending.tool === "addComponent") return "the new component";
  if (pending.tool === "searchComponent") return "the list of components";
  const labels = pending.changes.map((change) => change.label);
  return word(pending.args["componentId"]) || listed(labels) || "the design";
}

/** What holds since a yes. */
function done(pending: Pending, reply: Said): string | null {
  const result = record(reply.metadata.tool_calls?.find((call) => call.name === pending.tool)?.result) ?? {};
  if (typeof result["error"] === "string") return "but nothing was changed";
  const id = word(pending.args["componentId"]);
  const group = word(pending.args["security_group_title"]);
  switch (pending.tool) {
    case "addComponent":
      return `component ${text(record(result["component"])?.["component_id"]) || id} is added`;
    case "deleteComponent":
      return `component ${id} is deleted`;
    case "addSecurityGroup":
      return `${group} is on component ${id}`;
    case "removeSecurityGroup":
      return `${group} is off component ${id}`;
    default:
      return listed(pending.changes.map((change) => `${change.label}${id === "" ? "" : ` of component ${id}`} is ${cut(change.after, 60)}`)) || null;
  }
}

/** The first two of some words, and how many more there are. */
function listed(words: readonly string[]): string {
  const more = words.length - 2;
  return words.slice(0, 2).join(", ") + (more > 0 ? ` and ${more} more` : "");
}
