// What the server answered last, by path: shown at once when a page comes back, then fetched anew.
import { QueryClient, queryOptions, useQuery } from "@tanstack/react-query";
import { useCallback, useEffect, useState } from "react";
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

/** A failure stands beside the answer before it, and until the next one: while it is asked again, nothing changes. */
interface Entry<T> {
  data: T | undefined;
  failure: Failure | null;
}

const APART = 250;

export const client = new QueryClient({ defaultOptions: { queries: { networkMode: "always", retry: false, staleTime: APART, refetchOnWindowFocus: false, refetchOnReconnect: false } } });

export function queryOf<T>(path: string) {
  return queryOptions<Entry<T>>({
    queryKey: [path],
    queryFn: async () => {
      try {
        return { data: await api.get<T>(path), failure: null };
      } catch (fault) {
        const failure = Failure.from(fault);
        return { data: client.getQueryData<Entry<T>>([path])?.data, failure };
      }
    },
  });
}

/**
 * The answer to GET `path`; `null` asks nothing. It is fetched again when `on` says that an event
 * touches it, at most four times a second. With `keep`, the answer to the former path stays until the new one is there.
 */
export function useResource<T>(path: string | null, how: { on?: (event: LiveEvent) => boolean; keep?: boolean } = {}): Resource<T> {
  const { data: entry } = useQuery({ ...queryOf<T>(path ?? ""), enabled: path !== null, ...(how.keep && path !== null && { placeholderData: withoutFailure }) }, client);
  const reload = useCallback(() => {
    if (path !== null) void fetchSoon(path);
  }, [path]);
  useEvents((events) => {
    if (events.some((event) => event.kind === "refresh" || how.on?.(event))) reload();
  });
  const { data, failure = null } = entry ?? {};
  return { data, failure, loading: path !== null && data === undefined && failure === null, reload };
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
  for (const { queryKey } of client.getQueryCache().findAll({ type: "active" })) if (String(queryKey[0]).startsWith(beginning)) void fetchSoon(String(queryKey[0]));
}

/** The paths that are asked, and whether they have to be asked again after that. */
const asked = new Map<string, boolean>();

/** Asks now, or as soon as the request before it is done and a quarter of a second has gone by. */
export async function fetchSoon(path: string) {
  const filter = { queryKey: [path], exact: true, type: "active" } as const;
  if (asked.has(path)) return void asked.set(path, true);
  // What is on its way already may have been answered before the event.
  asked.set(path, client.isFetching(filter) > 0);
  const pause = new Promise((resolve) => setTimeout(resolve, APART));
  await client.refetchQueries(filter, { cancelRefetch: false });
  await pause;
  const again = asked.get(path);
  asked.delete(path);
  if (again) await fetchSoon(path);
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
