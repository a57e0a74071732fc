import type { RunTask } from "../../../api/types";
import { checkOf } from "../attempts";
import { millis } from "../../../format";

// From times to places: the axis of the timeline. All times are milliseconds since the run began.

export interface Range {
  from: number;
  to: number;
}

/** From the start to now and 15 % more while it runs, to the end afterwards: the end can always be reached. */
export function whole(elapsed: number, live: boolean): Range {
  return { from: 0, to: Math.max(50, elapsed * (live ? 1.15 : 1.02)) };
}

const SECONDS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 18_000, 36_000, 86_400];

/** Places of ticks at least 72 px apart, at round times. */
export function ticks(range: Range, width: number): number[] {
  const least = ((range.to - range.from) * 72) / Math.max(width, 1);
  const step = 1000 * (SECONDS.find((one) => 1000 * one >= least) ?? 86_400);
  const first = Math.ceil(range.from / step) * step;
  const list: number[] = [];
  for (let at = first; at < range.to && list.length < 200; at += step) list.push(at);
  return list;
}

export function zoomed(range: Range, by: number, limit: Range, at = (range.from + range.to) / 2): Range {
  const length = Math.min(limit.to - limit.from, Math.max(20, (range.to - range.from) * by));
  const share = (at - range.from) / (range.to - range.from);
  return within({ from: at - length * share, to: at + length * (1 - share) }, limit);
}

export function within(range: Range, limit: Range): Range {
  const length = Math.min(range.to - range.from, limit.to - limit.from);
  const from = Math.min(Math.max(range.from, limit.from), limit.to - length);
  return { from, to: from + length };
}

/** Part of the width, in percent. */
export function place(at: number, range: Range) {
  return (100 * (at - range.from)) / (range.to - range.from);
}

type SegmentKind = "ended" | "running" | "failed" | "cancelled" | "waiting" | "passed" | "refused" | "checking";

interface Segment {
  kind: SegmentKind;
  from: number;
  to: number;
  /** Its name for those who do not see it. */
  name: string;
}

export function segmentsOf(task: RunTask, start: number, elapsed: number): Segment[] {
  const at = (moment: string | null) => (moment === null ? elapsed : millis(moment) - start);
  const begun = task.history[0]?.startedAt ?? task.endedAt;
  const waits: Segment[] = !task.readyAt ? [] : [{ kind: "waiting", from: at(task.readyAt), to: at(begun), name: "waited for a slot" }];
  const attempts = task.history.flatMap((attempt): Segment[] => {
    const check = checkOf(attempt);
    const end = attempt.agentEndedAt ?? attempt.endedAt;
    const stopped = attempt.state === "cancelled" || (attempt.state === "failed" && check === null) ? attempt.state : "ended";
    const kind = end === null ? "running" : stopped;
    const words = { running: "running", failed: "failed by itself", cancelled: "was cancelled", ended: "ended" }[kind];
    const bar: Segment = { kind, from: at(attempt.startedAt), to: at(end), name: `attempt ${attempt.attempt} ${words}` };
    return check ? [bar, checked(check, at)] : [bar];
  });
  return [...waits, ...attempts];
}

function checked(check: NonNullable<ReturnType<typeof checkOf>>, at: (moment: string | null) => number): Segment {
  const kind: SegmentKind = check.endedAt === null ? "checking" : check.passed ? "passed" : "refused";
  const name = { checking: "being checked", passed: "verified", refused: "refused" }[kind];
  return { kind, from: at(check.startedAt), to: at(check.endedAt), name };
}
