// What the server answered last, by path: shown at once when a page comes back, then fetched anew.
import { QueryClient, queryOptions, useQuery, useQueries } from "@tanstack/react-query";
import { useCallback, useEffect, useState } from "react";
import { Failure, api } from "./request";
import { hear, useEvents, type LiveEvent } from "./events";

export interface Resource<T> {
  data: T | undefined;
  failure: Failure | null;
  /** Nothing to show yet and a request on its way. */
  loading: boolean;
  reload: () => void;
  /** What was asked for this answer. */
  body: string;
  /** Whether this is still the answer to what was asked before. */
  old: boolean;
}

/** A failure stands beside the answer before it, and until the next one: while it is asked again, nothing changes. */
interface Entry<T> {
  data: T | undefined;
  failure: Failure | null;
  body: string;
}

const APART = 250;

const client = new QueryClient({ defaultOptions: { queries: { networkMode: "always", retry: false, staleTime: APART, refetchOnWindowFocus: false, refetchOnReconnect: false } } });

// What is not shown hears no events: it is asked again once it is.
hear(() => void client.invalidateQueries({ type: "inactive", refetchType: "none" }));

/** To ask takes time of its own: the page is shown first. */
export let show = () => {};
export const shown = new Promise<void>((resolve) => {
  show = resolve;
  setTimeout(show, 1000);
});

function queryOf<T>(path: string, body = "") {
  const queryKey = [path, body];
  return queryOptions<Entry<T>>({
    queryKey,
    queryFn: async () => {
      await shown;
      try {
        return { data: await (body === "" ? api.get<T>(path) : api.post<T>(path, JSON.parse(body))), failure: null, body };
      } catch (fault) {
        return { data: client.getQueryData<Entry<T>>(queryKey)?.data, failure: Failure.from(fault), body };
      }
    },
  });
}

/** Takes what was asked for before any code was there. It is asked again once it is shown: events did not come yet. */
export async function takeEarly(path: string, answer: Promise<unknown>) {
  const data = await answer;
  const isFirst = client.getQueryData([path, ""]) === undefined;
  if (data !== undefined && isFirst) client.setQueryData([path, ""], { data, failure: null, body: "" }, { updatedAt: 1 });
}

interface How {
  on?: (event: LiveEvent) => boolean;
  keep?: boolean;
  body?: string;
}

/**
 * The answer to GET `path`, or with `body` (JSON) to a POST that changes nothing; `null` asks nothing. It is fetched again
 * when `on` says that an event touches it, at most four times a second. With `keep`, the answer before stays until the new one is there.
 */
export function useResource<T>(path: string | null, { on, keep, body = "" }: How = {}): Resource<T> {
  const { data: entry, isPlaceholderData: old } = useQuery({ ...queryOf<T>(path ?? "", body), enabled: path !== null, ...(keep && path !== null && { placeholderData: withoutFailure }) }, client);
  const reload = useCallback(() => {
    if (path !== null) void fetchSoon(path, body);
  }, [path, body]);
  useEvents((events) => {
    if (events.some((event) => event.kind === "refresh" || on?.(event))) reload();
  });
  const { data, failure = null } = entry ?? {};
  return { data, failure, old, body: entry?.body ?? "", loading: path !== null && data === undefined && failure === null, reload };
}

function withoutFailure<T>(former: Entry<T> | undefined): Entry<T> | undefined {
  return former && { ...former, failure: null };
}

/** Says that each has answered or failed: what they fill appears at once, so that nothing moves what is there already. */
export function settled(...resources: Pick<Resource<unknown>, "data" | "failure">[]) {
  return resources.every((one) => one.data !== undefined || one.failure !== null);
}

/** Says that what was answered for paths with this beginning may be old. */
export function touch(beginning: string) {
  for (const { queryKey } of client.getQueryCache().findAll({ type: "active" })) if (String(queryKey[0]).startsWith(beginning)) void fetchSoon(String(queryKey[0]), String(queryKey[1]));
}

/** Asks again, and ends when the answer is there for what is shown next. */
export function refetch(path: string) {
  return client.fetchQuery({ ...queryOf(path), staleTime: 0 });
}

/** What is being asked, and whether it has to be asked again after that. */
const asked = new Map<string, boolean>();

/** Asks now, or as soon as the request before it is done and a quarter of a second has gone by. */
async function fetchSoon(path: string, body = "") {
  const filter = { queryKey: [path, body], exact: true, type: "active" } as const;
  const key = path + body;
  if (asked.has(key)) return void asked.set(key, true);
  // What is on its way already may have been answered before the event.
  asked.set(key, client.isFetching(filter) > 0);
  const pause = new Promise((resolve) => setTimeout(resolve, APART));
  await client.refetchQueries(filter, { cancelRefetch: false });
  await pause;
  const again = asked.get(key);
  asked.delete(key);
  if (again) await fetchSoon(path, body);
}

/** A set with one more value, or without the one that it had. */
export function flip<T>(set: ReadonlySet<T>, value: T): ReadonlySet<T> {
  const next = new Set(set);
  if (!next.delete(value)) next.add(value);
  return next;
}

/** A value once it has stayed the same for so many milliseconds. */
export function useLate<T>(value: T, pause: number): T {
  const [late, setLate] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setLate(value), pause);
    return () => clearTimeout(timer);
  }, [value, pause]);
  return late;
}

interface Pages<T> {
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

/** What is at these paths, of those that were answered; it never changes, so it is asked for once. */
export function useFixed<T>(paths: string[]): T[] {
  return useQueries({ queries: paths.map((path) => ({ ...queryOf<T>(path), staleTime: Number.POSITIVE_INFINITY })), combine: pickData<T> }, client);
}

function pickData<T>(results: { data: Entry<T> | undefined }[]) {
  return results.flatMap(({ data }) => data?.data ?? []) as T[];
}

/** Without a gap: what comes after a page that is not there yet would change its place. */
function joined<T>(results: { data: { data: T | undefined; failure: Failure | null } | undefined }[]) {
  const gap = results.findIndex(({ data }) => data?.data === undefined);
  const have = (gap < 0 ? results : results.slice(0, gap)).map(({ data }) => data?.data as T);
  return { have, failure: results.find(({ data }) => data?.failure)?.data?.failure ?? null, complete: gap < 0 };
}

/** Something that a person does on the server: whether it is on its way, and why it was refused the last time. */
export function useAct<Given extends unknown[]>(act: (...given: Given) => Promise<void>) {
  const [state, setState] = useState<{ busy: boolean; failure: Failure | null }>({ busy: false, failure: null });
  const run = async (...given: Given) => {
    setState((now) => ({ ...now, busy: true }));
    try {
      await act(...given);
      setState({ busy: false, failure: null });
    } catch (fault) {
      setState({ busy: false, failure: Failure.from(fault) });
    }
  };
  return [(...given: Given) => void run(...given), { ...state, forgive: () => setState((now) => ({ ...now, failure: null })) }] as const;
}
