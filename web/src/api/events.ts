// The one stream of events of this page. Pieces are handed on at most once a frame; a hidden page reads nothing.
import { useEffect, useRef } from "react";
import { answered, setLine, useConnection } from "./connection";
import { Lines, type Message } from "./sse";

export interface LiveEvent {
  id: string | null;
  /** run, task, agents, conversation, piece; `refresh` when events were missed: fetch anew. */
  kind: string;
  data: Record<string, unknown>;
}

type Listener = (events: LiveEvent[]) => void;

const MOST_WAITING = 5000;
const SOON = 5_000;
const LATE = 30_000;

const REFRESH: LiveEvent = { id: null, kind: "refresh", data: {} };

const listeners = new Set<Listener>();
let waiting: LiveEvent[] = [];
let frame = 0;
let last: string | null = null;
let current: AbortController | null = null;
let lostAt = 0;

export function startEvents() {
  if (current) return;
  void listen();
  setInterval(judge, 1000);
  document.addEventListener("visibilitychange", visibility);
}

/** Calls `heard` with what happened since the last frame. */
export function useEvents(heard: Listener) {
  const latest = useRef(heard);
  useEffect(() => {
    latest.current = heard;
  });
  useEffect(() => {
    const listener: Listener = (events) => latest.current(events);
    listeners.add(listener);
    return () => {
      listeners.delete(listener);
    };
  }, []);
}

async function listen() {
  let wait = 500;
  const mine = (current = new AbortController());
  while (!mine.signal.aborted) {
    const heard = await readOnce(mine.signal);
    if (mine.signal.aborted) return;
    lostAt ||= Date.now();
    wait = heard ? 500 : Math.min(wait * 2, 10_000);
    await new Promise((resolve) => setTimeout(resolve, wait * (0.75 + Math.random() / 2)));
  }
}

/** One connection from its begin to its end; whether it ever was one. */
async function readOnce(signal: AbortSignal): Promise<boolean> {
  try {
    const headers: Record<string, string> = { accept: "text/event-stream" };
    if (last !== null) headers["last-event-id"] = last;
    const from = last === null ? "?since=now" : "";
    const response = await fetch("/api/events" + from, { headers, signal, credentials: "same-origin", cache: "no-store" });
    if (!response.ok || !response.body) return false;
    opened();
    await drain(response.body);
    return true;
  } catch {
    return false;
  }
}

function opened() {
  answered();
  if (lostAt !== 0 && last === null) queue(REFRESH);
  lostAt = 0;
  setLine("live");
}

async function drain(body: ReadableStream<Uint8Array>) {
  const reader = body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>).getReader();
  const lines = new Lines();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    answered();
    for (const message of lines.feed(value)) take(message);
  }
}

function take(message: Message) {
  if (message.id !== null) last = message.id;
  const event = eventOf(message);
  if (event) queue(event);
}

function eventOf(message: Message): LiveEvent | null {
  try {
    const data: unknown = JSON.parse(message.data);
    if (typeof data !== "object" || data === null) return null;
    if (message.type === "hello") return null;
    if (message.type === "reset") return REFRESH;
    return { id: message.id, kind: message.type, data: data as Record<string, unknown> };
  } catch {
    return null;
  }
}

function queue(event: LiveEvent) {
  waiting.push(event);
  if (waiting.length > MOST_WAITING) waiting = [REFRESH];
  if (frame === 0) frame = requestAnimationFrame(flush);
}

function flush() {
  frame = 0;
  const events = waiting;
  waiting = [];
  listeners.forEach((listener) => listener(events));
}

/** Once a second: how the line is called now, and the polling that stands in for it. */
function judge() {
  const away = lostAt === 0 ? 0 : Date.now() - lostAt;
  if (away > LATE) setLine("polling");
  else if (away > SOON) setLine("reconnecting");
  const odd = Math.floor(Date.now() / 1000) % 2 === 1;
  if (useConnection.getState().line === "polling" && odd && !document.hidden) queue(REFRESH);
}

let hiding = 0;

function visibility() {
  clearTimeout(hiding);
  if (document.hidden) hiding = window.setTimeout(pause, LATE);
  else if (current?.signal.aborted) {
    queue(REFRESH);
    void listen();
  }
}

/** Browsers give one host few connections: a page that nobody sees keeps none. */
function pause() {
  current?.abort();
}
