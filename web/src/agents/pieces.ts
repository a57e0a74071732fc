/** Answers as they come. Pieces are told once, so pieces that come before a page shows them are kept here; what came
 * before this page was there is asked for. */
import { useEffect, useReducer } from "react";
import { useEvents, type LiveEvent } from "../api/events";
import { api } from "../api/request";
import type { Execution } from "../api/types";

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
    // The whole answer comes anyway.
  } finally {
    asking.delete(id);
  }
  if (isFirst && (answers.get(id)?.ahead.length ?? 0) > 0) await catchUp(id, false);
}

/** Keeps the pieces of every answer while a page is open that may show one. */
export function useHearing() {
  useEvents((events) => events.filter((event) => event.kind === "piece").forEach(keep));
}

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

/** An answer put together of pieces, each of which says how much came before it. Pure. */

interface Piece {
  /** How many UTF-16 units of the answer came before. */
  after: number;
  text: string;
}

interface SoFar {
  text: string;
  /** Pieces before which something is missing. */
  ahead: Piece[];
}

/** Most characters of an answer, and most pieces that wait for what is missing. */
const LONGEST = 400_000;
const WAITING = 5_000;

/** Takes a piece: what is known already is passed over, and what comes too soon waits. */
export function joined(answer: SoFar = { text: "", ahead: [] }, piece: Piece): SoFar {
  const pieces = [...answer.ahead, piece].sort((a, b) => a.after - b.after);
  let { text } = answer;
  const ahead: Piece[] = [];
  for (const one of pieces) {
    if (one.after > text.length) ahead.push(one);
    else text += one.text.slice(text.length - one.after);
  }
  const isFull = text.length >= LONGEST;
  return { text: text.slice(0, LONGEST), ahead: isFull ? [] : ahead.slice(-WAITING) };
}
