// Rows of the list, fetched in pages and counted by the server.
import { useEffect, useMemo, type ReactNode } from "react";
import { path, Failure, api } from "../../api/request";
import { usePages, touch } from "../../api/resource";
import { touchesWork, type Row, type Rows, type Posted } from "../../api/types";
import { told, Empty, Trouble, Ghost } from "../../parts/States";
import type { Filters } from "./filters";
import { seeTasks } from "./selection";
import { toast } from "../../parts/toasts";
import type { State } from "../../parts/StatusGlyph";

const PAGE = 500;

export function useRows(filters: Filters, sort: string, dir: string) {
  const states = filters.states.join(",");
  const pathFor = (page: number) => path("/api/work/rows", { epic: filters.epic, state: states, q: filters.q, sort, dir, limit: PAGE, offset: page === 0 ? null : page * PAGE });
  const { pages, ...rest } = usePages<Rows>(pathFor, touchesWork);
  const rows = useMemo(() => once(pages.flatMap((page) => page.rows)), [pages]);
  const first = pages[0];
  useEffect(() => seeTasks(rows), [rows]);
  return { rows, total: first?.total, counts: first?.counts, whole: first !== undefined && pages.length * PAGE >= first.total, ...rest };
}

/** Pages are fetched one after the other: a task that moved in between may be on two of them. */
function once(rows: Row[]): Row[] {
  const seen = new Set<string>();
  return rows.filter((row) => !seen.has(row.id) && seen.add(row.id));
}

/** One word for a priority on all pages: that of the board. */
export function priorityWord(priority: string) {
  return priority === "critical" ? "urgent" : priority;
}

/** Words of a row that say why it stands where it stands. */
export function noteOf(row: Row): string {
  if (row.note) return told(row.note).words.replace(`${row.id} `, "");
  if (row.state === "waiting" && row.waitsFor.length > 0) return `waits for ${row.waitsFor.slice(0, 3).join(", ")}${row.waitsFor.length > 3 ? " …" : ""}`;
  if (row.runner) return row.attempt && row.attempt > 1 ? `${row.runner}, attempt ${row.attempt}` : row.runner;
  return "";
}

export function NoTasks() {
  return <Empty command={'cleo add "First task"'}>No tasks yet. A task appears here as soon as it is added or a plan is imported.</Empty>;
}

/** Text in place of missing rows: the reason, other rows (the children), or that there are no tasks. */
export function Unlisted({ rows, children }: { rows: ReturnType<typeof useRows>; children?: ReactNode }) {
  const { failure, loading, reload } = rows;
  return <div className="pane">{failure ? <Trouble failure={failure} retry={reload} /> : loading ? <Ghost rows={12} /> : children || <NoTasks />}</div>;
}

export type Act = "start" | "complete" | "reopen" | "claim" | "release" | "cancel";

export const ACTS: Record<Act, { label: string; done: string; from: State[] }> = {
  start: { label: "Start", done: "started", from: ["ready", "failed", "paused"] },
  complete: { label: "Complete", done: "completed", from: ["running", "verifying", "review", "needsYou", "ready", "failed"] },
  reopen: { label: "Reopen", done: "reopened", from: ["done", "cancelled"] },
  claim: { label: "Claim", done: "claimed", from: ["ready", "running", "failed"] },
  release: { label: "Release the claim", done: "released", from: ["running", "verifying", "review", "failed", "ready"] },
  cancel: { label: "Cancel the task", done: "cancelled", from: ["waiting", "ready", "failed", "paused", "needsYou", "running"] },
};

/** Acts that take or end no claim. The server never undoes a claim. */
export const UNDOABLE: readonly Act[] = ["reopen", "cancel", "complete"];

/** Does it and says so with Undo. */
export async function act(id: string, what: Act) {
  const { operation } = await api.post<Posted<"/api/work/tasks/{id}/complete">>(`/api/work/tasks/${encodeURIComponent(id)}/${what}`);
  touch("/api/work/");
  toast(`${id} ${ACTS[what].done}.`, operation === null || !UNDOABLE.includes(what) ? undefined : { label: "Undo", run: () => void undo(operation) });
}

/** Undoes operations, the last first. */
export async function undo(...operations: number[]) {
  try {
    for (const operation of operations) await api.post("/api/work/undo", { operation });
  } catch (fault) {
    toast(fault instanceof Failure ? `Not undone: ${fault.message}` : "Not undone.");
  }
  touch("/api/work/");
}
