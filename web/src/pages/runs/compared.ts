// Two runs side by side: which steps came out differently, took another time or cost another amount. Pure.
import type { RunTask } from "../../api/runs";
import { cost, duration, UNKNOWN } from "../../format/numbers";

export interface Side {
  task: RunTask;
  outcome: string;
  time: string;
  cost: string;
}

export interface Compared {
  id: string;
  title: string;
  one: Side | null;
  other: Side | null;
  /** What differs, as it is shown. */
  differs: ("outcome" | "time" | "cost")[];
}

/** All steps of both, in the order of the first run; what only the other has comes after. */
export function compared(one: RunTask[], other: RunTask[]): Compared[] {
  const steps = (tasks: RunTask[]) => new Map(tasks.filter((task) => !task.isEpic).map((task) => [task.taskId, task]));
  const [ours, theirs] = [steps(one), steps(other)];
  return [...new Set([...ours.keys(), ...theirs.keys()])].map((id) => {
    const sides = [ours.get(id), theirs.get(id)] as const;
    return { id, title: (sides[0] ?? sides[1])?.title ?? "", one: sideOf(sides[0]), other: sideOf(sides[1]), differs: differs(sides[0], sides[1]) };
  });
}

function differs(one: RunTask | undefined, other: RunTask | undefined): Compared["differs"] {
  const [a, b] = [sideOf(one), sideOf(other)];
  return (["outcome", "time", "cost"] as const).filter((what) => a?.[what] !== b?.[what]);
}

function sideOf(task: RunTask | undefined): Side | null {
  if (!task) return null;
  const tries = task.attempts.length;
  const took = task.durationMs;
  return {
    task,
    outcome: `${task.state}${tries > 1 ? `, ${tries} attempts` : ""}`,
    time: tries === 0 ? "" : took === null ? UNKNOWN : duration(took),
    cost: tries === 0 ? "" : task.cost === null ? UNKNOWN : cost(task.cost),
  };
}
