// The one stream of events of this page. Pieces are handed on at most once a frame; a hidden page reads nothing.
import { useEffect, useEffectEvent } from "react";
import { answered, api, setLine, useConnection } from "./request";

export interface LiveEvent {
  /** One of `KINDS`; `refresh` when events were missed: fetch anew. */
  kind: string;
  data: Record<string, unknown>;
}

type Listener = (events: LiveEvent[]) => void;

const KINDS = ["run", "task", "agents", "conversation", "piece", "log"];
const MOST_WAITING = 5000;
const SOON = 5_000;
const LATE = 30_000;

const REFRESH: LiveEvent = { kind: "refresh", data: {} };

const listeners = new Set<Listener>();
let waiting: LiveEvent[] = [];
let frame = 0;
let last = "";
let source: EventSource | null = null;
let lostAt = 0;

export function startEvents() {
  if (!document.hidden) listen();
  setInterval(judge, 1000);
  document.addEventListener("visibilitychange", visibility);
}

/** Calls `heard` with what happened since the last frame. */
export function useEvents(heard: Listener) {
  const latest = useEffectEvent(heard);
  useEffect(() => hear((events) => latest(events)), []);
}

export function hear(listener: Listener) {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

function listen() {
  const mine = new EventSource(`/api/events?since=${encodeURIComponent(last || "now")}`);
  source = mine;
  mine.onopen = opened;
  mine.onerror = () => {
    lostAt ||= Date.now();
    // Whether cleo answers at all is known at once, not with the next request of a page.
    void api.get("/api/status").catch(() => undefined);
    // The browser connects again by itself, but not after a refusal.
    if (mine.readyState === EventSource.CLOSED) setTimeout(() => source === mine && listen(), SOON * (0.75 + Math.random() / 2));
  };
  for (const kind of KINDS) mine.addEventListener(kind, take);
  mine.addEventListener("reset", ({ lastEventId }) => {
    last = lastEventId;
    queue(REFRESH);
  });
}

function opened() {
  answered();
  // What was not answered meanwhile is asked again, of the server that is there now.
  if (lostAt !== 0) queue(REFRESH);
  lostAt = 0;
  setLine("live");
}

function take({ type, data, lastEventId }: MessageEvent<string>) {
  answered();
  last = lastEventId;
  try {
    queue({ kind: type, data: JSON.parse(data) as Record<string, unknown> });
  } catch {
    // What is no JSON is none of our events.
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

/** Once a second: the label of the connection, and polling in its place. */
function judge() {
  const away = lostAt === 0 ? 0 : Date.now() - lostAt;
  if (away > LATE) setLine("polling");
  else if (away > SOON) setLine("reconnecting");
  const odd = Math.floor(Date.now() / 1000) % 2 === 1;
  if (useConnection.getState().line === "polling" && odd && !document.hidden) queue(REFRESH);
}

let hiding = 0;

/** Browsers give one host few connections: a hidden page keeps none. */
function visibility() {
  clearTimeout(hiding);
  if (document.hidden) hiding = window.setTimeout(() => source?.close(), 1000);
  else if (source === null || source.readyState === EventSource.CLOSED) {
    queue(REFRESH);
    listen();
  }
}
