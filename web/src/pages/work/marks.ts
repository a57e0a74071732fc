// The tasks that were selected to do something with all of them. Only what the present view shows counts.
import { create } from "zustand";

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
  const ids = new Set(useMarks.getState().ids);
  if (!ids.delete(id)) ids.add(id);
  useMarks.setState({ on: true, ids, last: id });
}

/** Selects everything from the last selected task to this one, in the order of the view. */
export function markTo(id: string, order: readonly string[]) {
  const { ids, last } = useMarks.getState();
  const from = last === null ? -1 : order.indexOf(last);
  const to = order.indexOf(id);
  if (from < 0 || to < 0) return toggleMark(id);
  const range = order.slice(Math.min(from, to), Math.max(from, to) + 1);
  useMarks.setState({ on: true, ids: new Set([...ids, ...range]), last: id });
}
