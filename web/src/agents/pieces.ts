/** Answers as they come. Pieces are told once, so what comes before somebody looks is kept here. */

import { useReducer } from "react";
import { useEvents, type LiveEvent } from "../api/events";

/** Most answers that are kept, and most characters of one. */
const ANSWERS = 20;
const LONGEST = 400_000;

const answers = new Map<string, string>();

function keep(event: LiveEvent) {
  const id = String(event.data["runId"] ?? "");
  const text = ((answers.get(id) ?? "") + String(event.data["piece"] ?? "")).slice(0, LONGEST);
  answers.delete(id);
  answers.set(id, text);
  const oldest = answers.keys().next().value;
  if (answers.size > ANSWERS && oldest !== undefined) answers.delete(oldest);
}

/** Keeps the pieces of every answer while a page is open that may show one. */
export function useHearing() {
  useEvents((events) => events.filter((event) => event.kind === "piece").forEach(keep));
}

/** The text of an answer so far. */
export function usePieces(id: string | null): string {
  const [, again] = useReducer((round: number) => round + 1, 0);
  useEvents((events) => {
    if (events.some((event) => event.kind === "piece" && event.data["runId"] === id)) again();
  });
  return id === null ? "" : (answers.get(id) ?? "");
}
