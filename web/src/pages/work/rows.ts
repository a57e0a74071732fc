// Rows of the list and the board, fetched in pages and counted by the server.
import { useEffect, useMemo } from "react";
import { path } from "../../api/request";
import { usePages } from "../../api/pages";
import { touchesWork, type Row, type Rows } from "../../api/work";
import { told } from "../../parts/told";
import type { Filters } from "./filters";
import { seeTasks } from "./walk";

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

/** Words of a row that say why it stands where it stands. */
export function noteOf(row: Row): string {
  if (row.note) return told(row.note).words.replace(`${row.id} `, "");
  if (row.state === "waiting" && row.waitsFor.length > 0) return `waits for ${row.waitsFor.slice(0, 3).join(", ")}${row.waitsFor.length > 3 ? " …" : ""}`;
  if (row.runner) return row.attempt && row.attempt > 1 ? `${row.runner}, attempt ${row.attempt}` : row.runner;
  return "";
}
