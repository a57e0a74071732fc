/** From what waits in a conversation to the card that asks for it: the question, what would change,
 * and what can be chosen. */

import type { Change, Choosable, Pending } from "./types";

export interface AskedFor {
  kind: "confirm" | "select";
  question: string;
  /** What the reply says beside the question and the changes. */
  more: string;
  changes: Change[];
  options: Choosable[];
  /** The verb on the button. */
  verb: string;
  destructive: boolean;
  expires: string;
}

export function askedFor(pending: Pending, reply: string): AskedFor {
  const { question, more } = split(reply);
  const isSelect = pending.kind === "select";
  const isNew = pending.tool === "addComponent";
  return {
    kind: pending.kind,
    question: isSelect ? "Which component is meant?" : question,
    more: isSelect ? "" : more,
    // Of what is new nothing was set before.
    changes: pending.changes.map((change) => (isNew ? change : { ...change, before: change.before ?? "not set" })),
    options: pending.options,
    verb: pending.destructive ? destruction(pending) : "Confirm",
    destructive: pending.destructive,
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

function word(value: unknown): string {
  return typeof value === "string" ? value : "";
}
