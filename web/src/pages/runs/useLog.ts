// The lines of one attempt, fetched by range: first the end, then what is scrolled to, then what is new.
import { useCallback, useEffect, useRef, useState } from "react";
import { Failure } from "../../api/failure";
import { api, path } from "../../api/request";
import { useEvents } from "../../api/events";
import type { LogLine, LogPage } from "../../api/runs";

const CHUNK = 500;

interface State {
  total: number | null;
  lines: ReadonlyMap<number, LogLine>;
  following: boolean;
  failure: Failure | null;
}

export function useLog(run: string, task: string, attempt: number) {
  const base = `/api/runs/${encodeURIComponent(run)}/log`;
  const [state, setState] = useState<State>({ total: null, lines: new Map(), following: false, failure: null });
  const asked = useRef(new Set<number>());
  const busy = useRef(false);
  const again = useRef(false);
  const total = useRef(0);

  const fetchFrom = useCallback(
    async (from: number) => {
      try {
        const page = await api.get<LogPage>(path(base, { task, attempt, from, limit: CHUNK }));
        total.current = page.total;
        setState((former) => merged(former, page));
        return page;
      } catch (fault) {
        if (fault instanceof Failure) setState((former) => ({ ...former, failure: fault }));
        return null;
      }
    },
    [base, task, attempt],
  );

  /** Everything after what is known. */
  const fetchNew = useCallback(async () => {
    if (busy.current) {
      again.current = true;
      return;
    }
    busy.current = true;
    do {
      again.current = false;
      let page = await fetchFrom(total.current);
      while (page && page.lines.length === CHUNK) page = await fetchFrom(page.from + page.lines.length);
    } while (again.current);
    busy.current = false;
  }, [fetchFrom]);

  useEffect(() => {
    void fetchFrom(-CHUNK);
  }, [fetchFrom]);
  useEvents((events) => {
    if (events.some((event) => event.kind === "refresh" || (event.data["runId"] === run && event.data["taskId"] === task))) void fetchNew();
  });
  useEffect(() => {
    if (!state.following) return;
    const timer = setInterval(() => void (document.hidden || fetchNew()), 2000);
    return () => clearInterval(timer);
  }, [state.following, fetchNew]);

  /** Makes sure that the lines from `first` to `last` are on their way. */
  const need = useCallback(
    (first: number, last: number, lines: ReadonlyMap<number, LogLine>) => {
      for (let n = first; n <= last; n++) {
        if (lines.has(n)) continue;
        const chunk = Math.floor(n / CHUNK);
        if (asked.current.has(chunk)) continue;
        asked.current.add(chunk);
        void fetchFrom(chunk * CHUNK);
      }
    },
    [fetchFrom],
  );

  /** Numbers of the lines in which the words occur, over the whole log. */
  const find = useCallback(
    async (words: string) => {
      const page = await api.get<LogPage>(path(base, { task, attempt, from: 0, limit: 1, q: words }));
      return page.matches ?? [];
    },
    [base, task, attempt],
  );

  return { ...state, need, find, retry: () => void fetchFrom(-CHUNK) };
}

const MOST = 100_000;

function merged(former: State, page: LogPage): State {
  const lines = new Map(former.lines);
  for (const line of page.lines) lines.set(line.n, line);
  if (lines.size > MOST) for (const n of [...lines.keys()].slice(0, lines.size - MOST)) lines.delete(n);
  return { total: page.total, lines, following: page.following, failure: null };
}
