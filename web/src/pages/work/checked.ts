import type { Counts, Row } from "../../api/work";

/** Whether there is something done and cleo itself checked all of it; where not all rows are listed, the counts tell. */
export function isChecked(rows: Pick<Row, "state" | "verified">[], counts: Counts | undefined): boolean {
  if (counts) return counts.done > 0 && counts.verified === counts.done;
  const done = rows.filter((row) => row.state === "done");
  return done.length > 0 && done.every((row) => row.verified);
}
