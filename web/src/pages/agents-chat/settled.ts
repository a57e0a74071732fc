/** What became of a question that waited, in words. The server says it with the reply to the answer: what was
 * said, and which tools were called, is no sign of it. */

import type { Pending, Said } from "../../agents/types";

export interface Outcome {
  text: string;
  /** What was confirmed or chosen. */
  what: string | null;
  at: string;
  /** Whether it says all that the answer said. */
  isWhole: boolean;
}

export function outcomeOf(pending: Pending, answer: Said, reply: Said | undefined): Outcome | null {
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

/** The component that was chosen: the one that the reply goes on with, or else by its place, its id or its title. */
function chosenIn(pending: Pending, text: string, reply: Said): string | null {
  const { candidates, options } = pending;
  const place = Number(text.replace(/^#|^number /i, ""));
  const calls = reply.metadata.tool_calls ?? [];
  const named = [reply.metadata.pending?.args["componentId"], ...calls.map((call) => call.args["componentId"]), candidates[place - 1], text];
  const titled = options.find((one) => one.title !== "" && one.title.toLowerCase() === text.toLowerCase());
  const id = named.map(word).find((one) => candidates.includes(one)) ?? titled?.id;
  if (id === undefined) return null;
  const title = options.find((one) => one.id === id)?.title ?? "";
  return `component ${id}${title === "" ? "" : ` ${brief(title)}`}`;
}

/** What an open question is about. */
function subject(pending: Pending): string {
  if (pending.kind === "select") return "which component is meant";
  if (pending.tool === "addComponent") return "the new component";
  if (pending.tool === "searchComponent") return "the list of components";
  const labels = pending.changes.map((change) => change.label);
  return word(pending.args["componentId"]) || listed(labels) || "the design";
}

/** What holds since a yes. */
function done(pending: Pending, reply: Said): string | null {
  const result = fields(reply.metadata.tool_calls?.find((call) => call.name === pending.tool)?.result);
  if (typeof result["error"] === "string") return "but nothing was changed";
  const id = word(pending.args["componentId"]);
  const group = word(pending.args["security_group_title"]);
  switch (pending.tool) {
    case "addComponent":
      return `component ${word(fields(result["component"])["component_id"]) || id} is added`;
    case "deleteComponent":
      return `component ${id} is deleted`;
    case "addSecurityGroup":
      return `${group} is on component ${id}`;
    case "removeSecurityGroup":
      return `${group} is off component ${id}`;
    default:
      return listed(pending.changes.map((change) => `${change.label}${id === "" ? "" : ` of component ${id}`} is ${brief(change.after)}`)) || null;
  }
}

/** The first two of some words, and how many more there are. */
function listed(words: readonly string[]): string {
  const more = words.length - 2;
  return words.slice(0, 2).join(", ") + (more > 0 ? ` and ${more} more` : "");
}

const LONGEST = 60;

function brief(text: string): string {
  return [...text].length > LONGEST ? `${[...text].slice(0, LONGEST - 1).join("")}…` : text;
}

function word(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function fields(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}
