/** What became of a question that waited. The reply to the answer tells it: a yes that came too late did nothing,
 * and a word that nobody understood left the question open. */

import type { Choosable, Pending, Said, ToolCalled } from "../../agents/types";

export interface Outcome {
  text: string;
  /** What was confirmed or chosen. */
  what: string | null;
  at: string;
  /** Whether it says all that the answer said. */
  isWhole: boolean;
}

const YES = /^(?:y|yes|ok|okay|confirm|confirmed|proceed|sure)[.!]*$/i;
const NO = /^(?:n|no|nope|cancel|stop|never ?mind|no,? thanks?(?: you)?|forget it|leave it|drop it)[.!]*$/i;

export function outcomeOf(pending: Pending, answer: Said, reply: Said | undefined): Outcome | null {
  if (!reply || isStillOpen(pending, reply)) return null;
  const text = answer.content.trim();
  const put = (words: string, what: string | null = null, isWhole = true) => ({ text: words, what, at: answer.created_at, isWhole });
  const isShort = YES.test(text) || NO.test(text);
  if (Date.parse(answer.created_at) >= Date.parse(pending.expires)) return put(`The open question about ${subject(pending)} had expired`, null, isShort);
  const call = callOf(pending, reply);
  if (pending.kind === "confirm" && call) return put("Confirmed", done(pending, call));
  const chosen = pending.kind === "select" ? chosenIn(pending, text, reply) : undefined;
  if (chosen) return put("Chosen", `component ${chosen.id}${chosen.title === "" ? "" : ` ${brief(chosen.title)}`}`);
  return NO.test(text) ? put("Cancelled") : put(`The open question about ${subject(pending)} was dropped`, null, false);
}

function isStillOpen(pending: Pending, reply: Said): boolean {
  const next = reply.metadata.pending;
  return next != null && since(pending) !== undefined && since(next) === since(pending);
}

function since(pending: Pending): string | undefined {
  return pending.created_at ?? pending.createdAt;
}

function callOf(pending: Pending, reply: Said): ToolCalled | undefined {
  return reply.metadata.tool_calls?.find((call) => call.name === pending.tool);
}

/** The component that was chosen: by what the reply goes on with, or else by its place, its id or its title. */
function chosenIn(pending: Pending, text: string, reply: Said): Choosable | undefined {
  const place = Number(text.replace(/^#|^number /i, ""));
  const ids = [reply.metadata.pending?.args["componentId"], callOf(pending, reply)?.args["componentId"], pending.candidates[place - 1], text];
  const id = ids.find((one) => pending.candidates.includes(word(one)));
  const options = pending.options;
  if (id === undefined) return options.find((one) => one.title !== "" && one.title.toLowerCase() === text.toLowerCase());
  return options.find((one) => one.id === id) ?? { id: word(id), type: "", title: "" };
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
function done(pending: Pending, call: ToolCalled): string | null {
  const result = fields(call.result);
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
