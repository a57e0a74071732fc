// Long lists come in pages: the first at once, the next when they are needed, all of them live.
import { useQueries } from "@tanstack/react-query";
import { useCallback, useState } from "react";
import { useEvents, type LiveEvent } from "./events";
import type { Failure } from "./failure";
import { client, fetchSoon, queryOf } from "./resource";

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
  const paths = Array.from({ length: pages }, (_, page) => pathFor(page));
  const { have, failure, complete } = useQueries({ queries: paths.map((path) => queryOf<T>(path)), combine: joined<T> }, client);
  const reload = () => paths.forEach((path) => void fetchSoon(path));
  useEvents((events) => {
    if (events.some((event) => event.kind === "refresh" || on(event))) reload();
  });
  const more = useCallback(() => {
    if (complete) setWanted({ first, pages: pages + 1 });
  }, [first, pages, complete]);
  return { pages: have, failure, loading: have.length === 0 && !failure, more, reload };
}

/** Without a gap: what comes after a page that is not there yet would change its place. */
function joined<T>(results: { data: { data: T | undefined; failure: Failure | null } | undefined }[]) {
  const gap = results.findIndex(({ data }) => data?.data === undefined);
  const have = (gap < 0 ? results : results.slice(0, gap)).map(({ data }) => data?.data as T);
  return { have, failure: results.find(({ data }) => data?.failure)?.data?.failure ?? null, complete: gap < 0 };
}
