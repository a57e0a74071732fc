// The tasks in the order in which the present view shows them, so that J and K can walk them.
import { useMemo } from "react";
import { create } from "zustand";
import { navigate, usePlace, withQuery } from "../../router/location";
import type { State } from "../../parts/state";

interface Seen {
  id: string;
  state: State;
}

export const useSeen = create<{ tasks: readonly Seen[] }>()(() => ({ tasks: [] }));

export function seenTasks(): readonly Seen[] {
  return useSeen.getState().tasks;
}

export function seeTasks(tasks: readonly Seen[]) {
  useSeen.setState({ tasks });
}

/** Selects a task; the address says which. */
export function select(id: string) {
  navigate(withQuery({ task: id }));
}

/** Closes the panel. Whoever was in it goes on where the task stands in the view. */
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
