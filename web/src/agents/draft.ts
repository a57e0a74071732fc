/** An agent under edit: what of it differs from what is kept, and what the server says to it. */

import type { Agent } from "./types";

/** The fields that people edit. */
export interface Draft {
  name: string;
  description: string;
  objective: string;
  role: "specialist" | "custom" | "supervisor";
  prompt: string;
  tags: string[];
  model: string;
  temperature: number;
  maxTokens: number;
  color: string;
  tools: string[];
}

export type Field = keyof Draft;

export const EMPTY: Draft = {
  name: "",
  description: "",
  objective: "",
  role: "specialist",
  prompt: "",
  tags: [],
  model: "gpt-4o-mini",
  temperature: 0.7,
  maxTokens: 4000,
  color: "#6B7280",
  tools: [],
};

export const FIELDS = Object.keys(EMPTY) as Field[];

export const LABELS: Record<Field, string> = {
  name: "Name",
  description: "Description",
  objective: "Objective",
  role: "Role",
  prompt: "Prompt",
  tags: "Tags",
  model: "Model",
  temperature: "Temperature",
  maxTokens: "Most tokens",
  color: "Colour",
  tools: "Tools",
};

export function draftOf(agent: Agent): Draft {
  const { name, description, objective, role, prompt, tags, model, temperature, maxTokens, color, tools } = agent;
  return { name, description, objective, role, prompt, tags, model, temperature, maxTokens, color, tools };
}

/** A row of the table of agents, as the server answers to a change, as a draft. */
export function draftOfRow(row: Record<string, unknown>): Draft {
  const camel = { ...row, maxTokens: row["max_tokens"] ?? row["maxTokens"] };
  return Object.fromEntries(FIELDS.map((field) => [field, (camel as Record<string, unknown>)[field] ?? EMPTY[field]])) as unknown as Draft;
}

/** The fields in which two drafts differ. */
export function differing(one: Draft, other: Draft): Field[] {
  return FIELDS.filter((field) => JSON.stringify(one[field]) !== JSON.stringify(other[field]));
}

/** What is sent: the fields that differ from what is kept. */
export function changes(draft: Draft, kept: Draft): Partial<Draft> {
  return Object.fromEntries(differing(draft, kept).map((field) => [field, draft[field]])) as Partial<Draft>;
}

/** The field that the server finds fault with, under the name that it has here. */
export function fieldOf(detail: Record<string, unknown>): Field | null {
  const said = detail["field"];
  const field = said === "max_tokens" ? "maxTokens" : said;
  return FIELDS.find((one) => one === field) ?? null;
}

/** A value as text, for comparing two of them. */
export function shownValue(value: Draft[Field]): string {
  const text = Array.isArray(value) ? value.join(", ") : String(value);
  return text === "" ? "empty" : text;
}

/** Splits what was typed or pasted into tags; none twice. */
export function withTags(tags: readonly string[], typed: string): string[] {
  const more = typed
    .split(/[,;\n]/)
    .map((tag) => tag.trim())
    .filter((tag) => tag !== "");
  return [...tags, ...more.filter((tag, at) => !tags.includes(tag) && more.indexOf(tag) === at)];
}
