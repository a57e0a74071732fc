// The address bar is the state of a page: what is shown can be linked to and restored.
import { useCallback, useMemo, useSyncExternalStore } from "react";

export interface Place {
  path: string;
  query: URLSearchParams;
}

const listeners = new Set<() => void>();
let href = window.location.pathname + window.location.search;

function changed() {
  href = window.location.pathname + window.location.search;
  listeners.forEach((listener) => listener());
}

window.addEventListener("popstate", changed);

function subscribe(listener: () => void) {
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
  };
}

/** Goes to a page of this application. A filter replaces the entry in the history, a selection adds one. */
export function navigate(to: string, how: { replace?: boolean } = {}) {
  if (to === href) return;
  window.history[how.replace ? "replaceState" : "pushState"](null, "", to);
  changed();
}

export function usePlace(): Place {
  const now = useSyncExternalStore(subscribe, () => href);
  return useMemo(() => {
    const url = new URL(now, window.location.origin);
    return { path: decoded(url.pathname), query: url.searchParams };
  }, [now]);
}

/** One value of the query part, and how to set it; `null` takes it out. */
export function useQuery(name: string, how: { push?: boolean } = {}) {
  const { query } = usePlace();
  const push = how.push ?? false;
  const set = useCallback(
    (value: string | null) => navigate(withQuery({ [name]: value }), { replace: !push }),
    [name, push],
  );
  return [query.get(name), set] as const;
}

/** The present address with some values of its query part changed. */
export function withQuery(changes: Record<string, string | null>, base = href): string {
  const url = new URL(base, window.location.origin);
  for (const [name, value] of Object.entries(changes)) {
    if (value === null || value === "") url.searchParams.delete(name);
    else url.searchParams.set(name, value);
  }
  return url.pathname + url.search;
}

function decoded(path: string) {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
