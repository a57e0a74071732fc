/** Answers as they come. Pieces are told once, so what comes before somebody looks is kept here; what came
 * before this page was there is asked for. */

import { useEffect, useReducer } from "react";
import { useEvents, type LiveEvent } from "../api/events";
import { api } from "../api/request";
import { joined, type SoFar } from "./joined";
import type { Execution } from "./types";

/** Most answers that are kept. */
const ANSWERS = 20;

const answers = new Map<string, SoFar>();
const asking = new Set<string>();

function put(id: string, answer: SoFar) {
  answers.delete(id);
  answers.set(id, answer);
  const oldest = answers.keys().next().value;
  if (answers.size > ANSWERS && oldest !== undefined) answers.delete(oldest);
}

function keep(event: LiveEvent) {
  const id = String(event.data["runId"] ?? "");
  const answer = joined(answers.get(id), { after: Number(event.data["after"] ?? 0), text: String(event.data["piece"] ?? "") });
  put(id, answer);
  if (answer.ahead.length === 1) void catchUp(id);
}

/** Asks for what came of an answer before this page heard of it; once more, when it heard of it too late for that. */
async function catchUp(id: string, isFirst = true): Promise<void> {
  if (asking.has(id)) return;
  asking.add(id);
  try {
    const { execution } = await api.get<{ execution: Execution }>(`/api/agents/execution/${encodeURIComponent(id)}`);
    if (execution.partial != null) put(id, joined(answers.get(id), { after: 0, text: execution.partial }));
  } catch {
    // The whole answer comes all the same.
  } finally {
    asking.delete(id);
  }
  if (isFirst && (answers.get(id)?.ahead.length ?? 0) > 0) await catchUp(id, false);
}

/** Keeps the pieces of every answer while a page is open that may show one. */
export function useHearing() {
  useEvents((events) => events.filter((event) => event.kind === "piece").forEach(keep));
}

/** The text of an answer so far. */
export function usePieces(id: string | null): string {
  const [, again] = useReducer((round: number) => round + 1, 0);
  useEffect(() => {
    if (id !== null) void catchUp(id).then(again);
  }, [id]);
  useEvents((events) => {
    if (events.some((event) => event.kind === "piece" && event.data["runId"] === id)) again();
  });
  return id === null ? "" : (answers.get(id)?.text ?? "");
}
