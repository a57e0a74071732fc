// The tasks that were selected to do something with all of them. Only what the present view shows counts.
import { create } from "zustand";
import { type MouseEvent, useMemo } from "react";
import { navigate, usePlace, withQuery } from "../../router";
import type { State } from "../../parts/StatusGlyph";
import { flip } from "../../api/resource";

interface Marks {
  /** Whether rows show that they can be selected. */
  on: boolean;
  ids: ReadonlySet<string>;
  /** Where a range begins. */
  last: string | null;
}

const NONE: Marks = { on: false, ids: new Set(), last: null };

export const useMarks = create<Marks>()(() => NONE);

export function startMarking() {
  useMarks.setState({ on: true });
}

export function clearMarks() {
  useMarks.setState(NONE);
}

export function toggleMark(id: string) {
  useMarks.setState({ on: true, ids: flip(useMarks.getState().ids, id), last: id });
}

/** Selects everything from the last selected task to this one, in the order of the view. */
function markTo(id: string, order: readonly string[]) {
  const { ids, last } = useMarks.getState();
  const from = last === null ? -1 : order.indexOf(last);
  const to = order.indexOf(id);
  if (from < 0 || to < 0) return toggleMark(id);
  const range = order.slice(Math.min(from, to), Math.max(from, to) + 1);
  useMarks.setState({ on: true, ids: new Set([...ids, ...range]), last: id });
}

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
    useSeen.getState().tasks.map((task) => task.id),
  );
}

interface Seen {
  id: string;
  state: State;
}

export const useSeen = create<{ tasks: readonly Seen[] }>()(() => ({ tasks: [] }));

export function seeTasks(tasks: readonly Seen[]) {
  useSeen.setState({ tasks });
}

/** Selects a task; the address says which. */
export function select(id: string) {
  navigate(withQuery({ task: id }));
}

/** Closes the panel, and moves the focus from it to the task in the view. */
export function closeTask() {
  const id = new URLSearchParams(window.location.search).get("task");
  const isInside = document.activeElement?.closest(".panel") != null;
  navigate(withQuery({ task: null, tab: null }));
  if (id === null || !isInside) return;
  requestAnimationFrame(() => document.querySelector<HTMLElement>(`[data-task="${CSS.escape(id)}"]`)?.focus({ preventScroll: true }));
}

export function useWalk() {
  const { query } = usePlace();
  const now = query.get("task");
  return useMemo(
    () => ({
      step(by: number) {
        const { tasks } = useSeen.getState();
        const at = tasks.findIndex((task) => task.id === now);
        const to = at < 0 ? (by > 0 ? 0 : tasks.length - 1) : Math.min(tasks.length - 1, Math.max(0, at + by));
        const task = tasks[to];
        if (task) select(task.id);
      },
      next(state: State) {
        const { tasks } = useSeen.getState();
        const at = tasks.findIndex((task) => task.id === now);
        const round = [...tasks.slice(at + 1), ...tasks.slice(0, at + 1)];
        const task = round.find((one) => one.state === state);
        if (task) select(task.id);
      },
    }),
    [now],
  );
}
