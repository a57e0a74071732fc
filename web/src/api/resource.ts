// What the server answered last, by path: shown at once when a page comes back, then fetched anew.
import { useCallback, useEffect, useRef, useState, useSyncExternalStore } from "react";
import { Failure } from "./failure";
import { api } from "./request";
import { useEvents, type LiveEvent } from "./events";

export interface Resource<T> {
  data: T | undefined;
  failure: Failure | null;
  /** Nothing to show yet and a request on its way. */
  loading: boolean;
  reload: () => void;
}

export interface Entry {
  readonly data?: unknown;
  readonly failure: Failure | null;
  readonly busy: boolean;
}

const NOTHING: Entry = { failure: null, busy: true };
const MOST = 200;
const APART = 250;

const entries = new Map<string, Entry>();
const watchers = new Map<string, Set<() => void>>();
const due = new Map<string, { at: number; running: boolean; again: boolean }>();

/**
 * The answer to GET `path`; `null` asks nothing. It is fetched again when `on` says that an event
 * touches it, at most four times a second. With `keep`, the answer to the former path stays until the new one is there.
 */
export function useResource<T>(
  path: string | null,
  how: { on?: (event: LiveEvent) => boolean; keep?: boolean } = {},
): Resource<T> {
  const entry = useSyncExternalStore(
    useCallback((changed: () => void) => watch(path, changed), [path]),
    () => (path === null ? NOTHING : (entries.get(path) ?? NOTHING)),
  );
  useEffect(() => {
    if (path !== null) fetchSoon(path);
  }, [path]);
  useEvents((events) => {
    if (path !== null && events.some((event) => event.kind === "refresh" || how.on?.(event))) fetchSoon(path);
  });
  const reload = useCallback(() => {
    if (path !== null) fetchSoon(path);
  }, [path]);
  const data = useKept(entry.data as T | undefined, how.keep === true && path !== null);
  return { data, failure: entry.failure, loading: path !== null && data === undefined && entry.failure === null, reload };
}

/** Says that each has answered or failed: what they fill appears at once, so that nothing moves what is there already. */
export function settled(...resources: Pick<Resource<unknown>, "data" | "failure">[]) {
  return resources.every((one) => one.data !== undefined || one.failure !== null);
}

function useKept<T>(data: T | undefined, keep: boolean): T | undefined {
  const former = useRef<T | undefined>(undefined);
  useEffect(() => {
    if (data !== undefined) former.current = data;
  }, [data]);
  return data ?? (keep ? former.current : undefined);
}

export function entryOf(path: string): Entry {
  return entries.get(path) ?? NOTHING;
}

/** Says that what was answered for paths with this beginning may be old. */
export function touch(beginning: string) {
  for (const path of watchers.keys()) if (path.startsWith(beginning)) fetchSoon(path);
}

/** Changes an answer before the server has said yes; gives back how to undo it. */
export function patch<T>(path: string, change: (data: T) => T): () => void {
  const former = entries.get(path);
  if (former?.data === undefined) return () => undefined;
  put(path, { ...former, data: change(former.data as T) });
  return () => put(path, former);
}

/** Calls `changed` when another answer to `path` is there. */
export function watch(path: string | null, changed: () => void) {
  if (path === null) return () => undefined;
  const set = watchers.get(path) ?? new Set();
  watchers.set(path, set.add(changed));
  return () => {
    set.delete(changed);
    if (set.size === 0 && watchers.get(path) === set) watchers.delete(path);
  };
}

function put(path: string, entry: Entry) {
  entries.delete(path);
  entries.set(path, entry);
  for (const old of entries.keys()) {
    if (entries.size <= MOST) break;
    if (!watchers.has(old)) entries.delete(old);
    else break;
  }
  watchers.get(path)?.forEach((changed) => changed());
}

/** Asks now, or as soon as the request before it is done and a quarter of a second has gone by. */
export function fetchSoon(path: string) {
  const plan = due.get(path) ?? { at: 0, running: false, again: false };
  due.set(path, plan);
  if (plan.running) {
    plan.again = true;
    return;
  }
  plan.running = true;
  const wait = Math.max(0, plan.at + APART - Date.now());
  setTimeout(() => void run(path, plan), wait);
}

async function run(path: string, plan: { at: number; running: boolean; again: boolean }) {
  plan.at = Date.now();
  plan.again = false;
  try {
    const data = await api.get<unknown>(path);
    const former = entries.get(path);
    put(path, { data: former && same(former.data, data) ? former.data : data, failure: null, busy: false });
  } catch (fault) {
    const failure = fault instanceof Failure ? fault : new Failure(String(fault), 0);
    put(path, { ...(entries.get(path) ?? NOTHING), failure, busy: false });
  }
  plan.running = false;
  if (plan.again && watchers.has(path)) fetchSoon(path);
  else if (!watchers.has(path)) due.delete(path);
}

function same(one: unknown, other: unknown) {
  return one !== undefined && JSON.stringify(one) === JSON.stringify(other);
}

/** True once `waiting` has lasted 300 ms: before that nothing is shown, so that nothing flickers. */
export function useSlow(waiting: boolean) {
  const [slow, setSlow] = useState(false);
  useEffect(() => {
    if (!waiting) return setSlow(false);
    const timer = setTimeout(() => setSlow(true), 300);
    return () => clearTimeout(timer);
  }, [waiting]);
  return slow && waiting;
}
