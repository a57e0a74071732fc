import type { Row } from "../api/work";

/** What a task, a step or a run is doing, in the words of the server. */
export type State = Row["state"];

export const STATE_WORDS: Record<State, string> = {
  waiting: "Waiting",
  ready: "Ready",
  running: "Running",
  verifying: "Verifying",
  done: "Done",
  failed: "Failed",
  needsYou: "Needs you",
  review: "In review",
  paused: "Paused",
  skipped: "Skipped",
  cancelled: "Cancelled",
};

export const STATES = Object.keys(STATE_WORDS) as State[];

/** The state that another part of cleo calls by another word. */
export function stateOf(word: string): State {
  if (word in STATE_WORDS) return word as State;
  return OTHER[word] ?? "waiting";
}

const OTHER: Record<string, State> = {
  pending: "waiting",
  todo: "ready",
  doing: "running",
  active: "running",
  completed: "done",
  passed: "done",
  blocked: "needsYou",
  interrupted: "paused",
};
