// The lines of one attempt, fetched by range: first the end, then what is scrolled to, then what is new.
import { useCallback, useEffect, useState, useMemo } from "react";
import { path } from "../../api/request";
import type { LogPage } from "../../api/types";
import { duration } from "../../format";
import { useResource, useFixed } from "../../api/resource";

const CHUNK = 500;

/** Most chunks that are kept beside the end. */
const MOST = 200;

/** The lines of an attempt: its last ones, which are fetched again while it runs, and whole chunks around the scroll position. */
export function useLog(run: string, task: string, attempt: number) {
  const pathOf = (query: object) => path(`/api/runs/${encodeURIComponent(run)}/log`, { task, attempt, limit: CHUNK, ...query });
  const end = useResource<LogPage>(pathOf({ from: -CHUNK }), { on: (event) => event.data["runId"] === run && event.data["taskId"] === task });
  const [asked, setAsked] = useState<readonly number[]>([]);
  const chunks = useFixed<LogPage>(asked.map((chunk) => pathOf({ from: chunk * CHUNK })));
  const { total = null, following = false, from = 0 } = end.data ?? {};
  const lines = useMemo(() => new Map([...chunks, end.data].flatMap((page) => page?.lines ?? []).map((line) => [line.n, line])), [chunks, end.data]);
  /** Makes sure that the lines from `first` to `last` are on their way. */
  const need = useCallback(
    (first: number, last: number) => {
      const wanted: number[] = [];
      // The end has those of a chunk that is not whole yet.
      for (let chunk = Math.floor(first / CHUNK); chunk * CHUNK <= last && (chunk + 1) * CHUNK <= (total ?? 0); chunk++) wanted.push(chunk);
      setAsked((now) => (wanted.every((chunk) => now.includes(chunk)) ? now : [...new Set([...now, ...wanted])].slice(-MOST)));
    },
    [total],
  );
  useEffect(() => {
    // What leaves the end stays.
    if (following && total !== null) need(from, total);
  }, [following, from, total, need]);
  return { total, lines, following, failure: end.failure, need, pathOf, retry: end.reload };
}

const HIDDEN = new Set(["manifestId", "outputFile", "processStartTime", "group", "message"]);

/** `agent.ended T4 {"exitCode":0,"outcome":"ok"}` as `agent ended: exit code 0, outcome ok`. */
export function eventWords(text: string): string {
  const found = /^([a-z_]+(?:\.[a-z_]+)+|[a-z_]+)(?: (T\d+))?(?: (\{.*\}))?$/s.exec(text);
  if (!found) return text;
  const [, type = "", , json] = found;
  const name = type.replace(/[._]/g, " ");
  if (json === undefined) return name;
  try {
    const fields = Object.entries(JSON.parse(json) as Record<string, unknown>).filter(([key, value]) => !HIDDEN.has(key) && value !== null);
    const words = fields.map(([key, value]) => fieldWords(key, value)).join(", ");
    return words === "" ? name : `${name}: ${words}`;
  } catch {
    return text;
  }
}

/** `exitCode` as `exit code`. */
export function spaced(name: string) {
  return name.replace(/([A-Z])/g, " $1").toLowerCase();
}

function fieldWords(key: string, value: unknown) {
  if (key === "durationMs" && typeof value === "number") return duration(value);
  return `${spaced(key)} ${valueWords(value)}`;
}

function valueWords(value: unknown): string {
  if (Array.isArray(value)) return value.map(valueWords).join("; ");
  if (typeof value === "object" && value !== null) return JSON.stringify(value);
  return String(value).replace(/^E_[A-Z_]+: /, "");
}
