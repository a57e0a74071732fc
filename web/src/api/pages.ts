// Long lists come in pages: the first at once, the next when they are needed, all of them live.
import { useCallback, useEffect, useRef, useState } from "react";
import type { LiveEvent } from "./events";
import { useEvents } from "./events";
import type { Failure } from "./failure";
import { entryOf, fetchSoon, watch } from "./resource";

export interface Pages<T> {
  pages: T[];
  failure: Failure | null;
  loading: boolean;
  more: () => void;
  reload: () => void;
}

/** `pathFor(n)` is the path of page n, from 0. The next page is fetched when `more` is called and those before it are there. */
export function usePages<T>(pathFor: (page: number) => string, on: (event: LiveEvent) => boolean): Pages<T> {
  const first = pathFor(0);
  const [wanted, setWanted] = useState({ first, pages: 1 });
  const pages = wanted.first === first ? wanted.pages : 1;
  const [, setTurn] = useState(0);
  const paths = Array.from({ length: pages }, (_, page) => pathFor(page));
  const joined = paths.join("\n");

  // A page more is one request more: those before it were just asked for.
  const asked = useRef(new Set<string>());
  useEffect(() => {
    const changed = () => setTurn((turn) => turn + 1);
    const now = joined.split("\n");
    const ends = now.map((path) => watch(path, changed));
    now.filter((path) => !asked.current.has(path)).forEach(fetchSoon);
    asked.current = new Set(now);
    return () => ends.forEach((end) => end());
  }, [joined]);
  const reload = useCallback(() => joined.split("\n").forEach(fetchSoon), [joined]);
  useEvents((events) => {
    if (events.some((event) => event.kind === "refresh" || on(event))) reload();
  });

  const entries = paths.map(entryOf);
  // Without a gap: what comes after a page that is not there yet would change its place.
  const gap = entries.findIndex((entry) => entry.data === undefined);
  const have = (gap < 0 ? entries : entries.slice(0, gap)).map((entry) => entry.data as T);
  const stable = useStable(have);
  const failure = entries.find((entry) => entry.failure)?.failure ?? null;
  const complete = gap < 0;
  const more = useCallback(() => {
    if (complete) setWanted({ first, pages: pages + 1 });
  }, [first, pages, complete]);
  return { pages: stable, failure, loading: have.length === 0 && !failure, more, reload };
}

/** The same array as long as its items are the same. */
function useStable<T>(items: T[]): T[] {
  const [kept, keep] = useState(items);
  const same = kept.length === items.length && kept.every((item, i) => item === items[i]);
  if (!same) keep(items);
  return same ? kept : items;
}
