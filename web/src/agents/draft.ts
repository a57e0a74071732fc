/** An agent under edit: what of it differs from what is kept, and what the server says to it. */

import type { Agent } from "../api/types";

export type Draft = Pick<Agent, "name" | "description" | "objective" | "role" | "prompt" | "tags" | "model" | "temperature" | "max_tokens" | "color" | "tools">;

export type DraftField = keyof Draft;

export const EMPTY: Draft = {
  name: "",
  description: "",
  objective: "",
  role: "specialist",
  prompt: "",
  tags: [],
  model: "gpt-4o-mini",
  temperature: 0.7,
  max_tokens: 4000,
  color: "#6B7280",
  tools: [],
};

export const FIELDS = Object.keys(EMPTY) as DraftField[];

export const LABELS: Record<DraftField, string> = {
  name: "Name",
  description: "Description",
  objective: "Objective",
  role: "Role",
  prompt: "Prompt",
  tags: "Tags",
  model: "Model",
  temperature: "Temperature",
  max_tokens: "Most tokens",
  color: "Colour",
  tools: "Tools",
};

/** An agent as a draft. */
export function draftOf(agent: object): Draft {
  const row = agent as Record<string, unknown>;
  return Object.fromEntries(FIELDS.map((field) => [field, row[field] ?? EMPTY[field]])) as unknown as Draft;
}

/** The field that the server finds fault with, under the name that it has here. */
export function fieldOf(detail: Record<string, unknown>): DraftField | null {
  return FIELDS.find((one) => one === detail["field"]) ?? null;
}

/** Splits what was typed or pasted into tags; none twice. */
export function withTags(tags: readonly string[], typed: string): string[] {
  const more = typed
    .split(/[,;\n]/)
    .map((tag) => tag.trim())
    .filter((tag) => tag !== "");
  return [...tags, ...more.filter((tag, at) => !tags.includes(tag) && more.indexOf(tag) === at)];
}
