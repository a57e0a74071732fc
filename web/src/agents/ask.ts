/** From what waits in a conversation to the card that asks for it: the question, what would change,
 * and what can be chosen, each from the reply and the calls of tools that came with it. */

import type { Pending, ToolCalled } from "./types";

export interface Change {
  label: string;
  /** None when nothing that was read says so. */
  before: string | null;
  after: string;
}

export interface Option {
  id: string;
  type: string;
  title: string;
}

export interface AskedFor {
  kind: "confirm" | "select";
  question: string;
  /** What the reply says beside the question and the changes. */
  more: string;
  changes: Change[];
  options: Option[];
  /** The verb on the button. */
  verb: string;
  destructive: boolean;
  expires: string;
}

type Fields = Record<string, unknown>;

export function askedFor(pending: Pending, reply: string, calls: readonly ToolCalled[]): AskedFor {
  const { question, more } = split(reply);
  const isDelete = /^(?:delete|remove)/.test(pending.tool);
  return {
    kind: pending.kind,
    question: pending.kind === "select" ? "Which component is meant?" : question,
    more: pending.kind === "select" ? "" : more,
    changes: pending.kind === "confirm" ? changes(pending, reply, calls) : [],
    options: pending.kind === "select" ? options(pending, calls) : [],
    verb: isDelete ? destruction(pending) : "Confirm",
    destructive: isDelete,
    expires: pending.expires,
  };
}

function destruction(pending: Pending): string {
  const component = word(pending.args["componentId"]);
  if (pending.tool === "deleteComponent") return `Delete component ${component}`;
  return `Remove ${word(pending.args["security_group_title"])} from component ${component}`;
}

const UNDERSTOOD = "Understood: ";

/** The sentence that asks, and everything else of a reply. */
function split(reply: string): { question: string; more: string } {
  const lines = reply.split("\n").filter((line) => line.trim() !== "");
  // An agent that says what it understood asks for that.
  const understood = lines.find((line) => line.startsWith(UNDERSTOOD))?.slice(UNDERSTOOD.length);
  if (understood !== undefined) {
    const rest = lines.filter((line) => !line.startsWith(UNDERSTOOD) && !/^(?:Action: none|Next: )/.test(line));
    return { question: understood.charAt(0).toUpperCase() + understood.slice(1).replace(/\.$/, "") + "?", more: rest.join("\n") };
  }
  const asks = lines.findIndex((line) => line.includes("?"));
  const question = lines[asks] ?? lines[0] ?? "";
  return { question, more: lines.filter((line) => line !== question).join("\n") };
}

function changes(pending: Pending, reply: string, calls: readonly ToolCalled[]): Change[] {
  const design = fields(pending.args["designUpdates"]);
  if (design)
    return Object.entries(design).map(([key, value]) => {
      const label = key.replaceAll("_", " ");
      return { label, before: inReply(reply, label), after: word(value) };
    });
  const updates = fields(pending.args["updates"]);
  if (!updates) return [];
  const now = component(calls, word(pending.args["componentId"]));
  return flat(updates).map(([key, value]) => ({
    label: key.split(".").at(-1)?.replaceAll("_", " ") ?? key,
    before: pending.tool === "addComponent" ? null : before(now, key),
    after: word(value),
  }));
}

/** What a reply says of the present value: "button radius is small now". */
function inReply(reply: string, label: string): string | null {
  const at = reply.toLowerCase().indexOf(`${label} is `);
  if (at < 0) return null;
  const rest = reply.slice(at + label.length + 4);
  const end = rest.indexOf(" now");
  return end > 0 ? rest.slice(0, end) : null;
}

/** Fields of fields under one name each: `props.title`. */
function flat(object: Fields, prefix = ""): [string, unknown][] {
  return Object.entries(object).flatMap(([key, value]) => {
    const inner = prefix === "" ? fields(value) : null;
    return inner ? flat(inner, `${key}.`) : [[prefix + key, value] as [string, unknown]];
  });
}

function before(now: Fields | null, key: string): string | null {
  if (!now) return null;
  const value = key.split(".").reduce<unknown>((part, name) => fields(part)?.[name], now);
  return value === undefined || value === null ? "not set" : word(value);
}

function found(calls: readonly ToolCalled[]): Fields[] {
  return calls.flatMap((call) => {
    const list = fields(call.result)?.["components"];
    return Array.isArray(list) ? list.map(fields).filter((one) => one !== null) : [];
  });
}

function component(calls: readonly ToolCalled[], id: string): Fields | null {
  return found(calls).find((one) => identity(one) === id) ?? null;
}

function identity(one: Fields): string {
  return word(one["componentId"] ?? one["component_id"]);
}

function options(pending: Pending, calls: readonly ToolCalled[]): Option[] {
  const all = found(calls);
  return pending.candidates.map((id) => {
    const one = all.find((other) => identity(other) === id);
    const props = fields(one?.["props"]);
    const title = props?.["title"] ?? props?.["caption"] ?? props?.["text"];
    return { id, type: word(one?.["type"] ?? one?.["component_type"]), title: word(title) };
  });
}

function fields(value: unknown): Fields | null {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : null;
}

/** A value in words; nothing is an empty word. */
function word(value: unknown): string {
  if (value === undefined || value === null) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}
