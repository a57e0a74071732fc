/** Asking the router where a message would go. Nothing is run by it. */

import { useEffect, useState } from "react";
import { useEvents } from "../api/events";
import { Failure } from "../api/failure";
import { api } from "../api/request";
import { isOfAgents } from "./data";
import type { Routed } from "./types";

export interface Question {
  message: string;
  agentId?: string | undefined;
  /** An agent under edit, scored in the place of the stored one. */
  draft?: Record<string, unknown> | undefined;
}

/** Candidates that are asked for: all of those that a graph or a list can show. */
const EXPLAIN = 100;
/** How long typing must pause, in milliseconds. */
const PAUSE = 150;

export function routed(question: Question, signal?: AbortSignal): Promise<Routed> {
  return api.post<Routed>("/api/route", { ...question, explain: EXPLAIN }, signal ? { signal } : {});
}

interface Preview {
  /** The message that the answer is for. */
  message: string;
  routed: Routed | null;
  failure: Failure | null;
}

const NOTHING: Preview = { message: "", routed: null, failure: null };

/** Where a message that is being typed would go, asked again when agents change. */
export function useRouted(question: Question): Preview {
  const [preview, setPreview] = useState<Preview>(NOTHING);
  const [round, setRound] = useState(0);
  useEvents((events) => {
    if (events.some(isOfAgents)) setRound((now) => now + 1);
  });
  const body = JSON.stringify(question);
  useEffect(() => {
    const asked = JSON.parse(body) as Question;
    if (asked.message.trim() === "") return setPreview(NOTHING);
    const given = new AbortController();
    const timer = setTimeout(() => void ask(asked, given.signal, setPreview), PAUSE);
    return () => {
      clearTimeout(timer);
      given.abort();
    };
  }, [body, round]);
  return preview;
}

async function ask(question: Question, signal: AbortSignal, put: (preview: Preview) => void) {
  try {
    const answer = await routed(question, signal);
    if (!signal.aborted) put({ message: question.message, routed: answer, failure: null });
  } catch (fault) {
    if (!signal.aborted) put({ message: question.message, routed: null, failure: fault instanceof Failure ? fault : null });
  }
}
