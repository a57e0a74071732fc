import type { TaskPage } from "../../api/work";
import { Id } from "../../format";
import { StatusGlyph } from "../../parts/StatusGlyph";

/** The line over a task's title: state, id, and what sets it apart. */
export function TaskChips({ page }: { page: TaskPage }) {
  const { task, state, verified, wave, critical } = page;
  return (
    <>
      <StatusGlyph state={state} verified={verified} />
      <Id value={task.id} />
      {task.priority !== "medium" && <span className="chip">{task.priority}</span>}
      {wave !== null && <span className="chip">wave {wave}</span>}
      {critical && <span className="chip">critical path</span>}
    </>
  );
}
