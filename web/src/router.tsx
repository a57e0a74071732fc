// The address bar is the state of a page: what is shown can be linked to and restored.
import { useCallback, useMemo, type AnchorHTMLAttributes } from "react";
import { Link } from "wouter";
import { navigate as put, usePathname, useSearch } from "wouter/use-browser-location";

export { Link };

export function TextLink({ className = "", ...props }: AnchorHTMLAttributes<HTMLAnchorElement> & { href: string; replace?: boolean }) {
  return <Link {...props} className={`link ${className}`} />;
}

function here() {
  return window.location.pathname + window.location.search;
}

/** Goes to a page of this application. A filter replaces the entry in the history, a selection adds one. */
export function navigate(to: string, how: { replace?: boolean } = {}) {
  if (to !== here()) put(to, how);
}

export function usePlace() {
  const path = usePathname();
  const search = useSearch();
  return useMemo(() => ({ path: decoded(path), query: new URLSearchParams(search) }), [path, search]);
}

/** One value of the query part, and how to set it; `null` takes it out. */
export function useQuery(name: string, how: { push?: boolean } = {}) {
  const { query } = usePlace();
  const push = how.push ?? false;
  const set = useCallback((value: string | null) => navigate(withQuery({ [name]: value }), { replace: !push }), [name, push]);
  return [query.get(name), set] as const;
}

/** The present address with some values of its query part changed. */
export function withQuery(changes: Record<string, string | null>, base = here()): string {
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
