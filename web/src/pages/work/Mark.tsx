import type { MouseEvent } from "react";
import { seenTasks } from "./walk";
import { markTo, toggleMark, useMarks } from "./marks";

/** The box before a task while several are selected. */
export function Mark({ id }: { id: string }) {
  const on = useMarks((marks) => marks.on);
  const marked = useMarks((marks) => marks.ids.has(id));
  if (!on) return null;
  return (
    <label className="check mark">
      <input type="checkbox" aria-label={`Select ${id}`} checked={marked} onChange={() => toggleMark(id)} />
    </label>
  );
}

/** A click with Shift selects up to here, and opens nothing. */
export function markByClick(event: MouseEvent, id: string) {
  if (!event.shiftKey) return;
  event.preventDefault();
  markTo(
    id,
    seenTasks().map((task) => task.id),
  );
}
