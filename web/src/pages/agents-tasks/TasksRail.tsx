import type { TaskStats, TaskStatus } from "../../agents/types";
import { count, percent } from "../../format/numbers";
import { Fact, Rail } from "../../parts/Rail";
import { withQuery } from "../../router/location";
import { TaskGlyph } from "./TaskGlyph";
import { COLUMNS, STATUS_WORDS } from "./words";

/** How the tasks stand; each number filters the board. */
export function TasksRail({ stats }: { stats: TaskStats | undefined }) {
  return (
    <Rail>
      <Fact label="Total" value={stats && count(stats.total)} href={withQuery({ status: null, due: null })} title="All tasks that are not archived" />
      {COLUMNS.map((status) => (
        <Fact key={status} label={STATUS_WORDS[status]} value={stats && <Counted status={status} n={stats.byStatus[status]} />} href={withQuery({ status })} />
      ))}
      <Fact label="Overdue" value={stats && count(stats.overdue)} href={withQuery({ due: "overdue" })} title="Open and due before now" />
      <Fact label="Done rate" value={stats && percent(stats.byStatus.done, stats.total - stats.byStatus.cancelled)} title="Done of all that were not cancelled" />
    </Rail>
  );
}

function Counted({ status, n }: { status: TaskStatus; n: number }) {
  return (
    <>
      <TaskGlyph status={status} />
      {count(n)}
    </>
  );
}
