// What a row of the timeline draws: pure, from the attempts of a task.
import type { RunTask } from "../../../api/runs";
import { millis } from "../../../format/time";

export type SegmentKind = "ended" | "running" | "failed" | "cancelled" | "waiting" | "passed" | "refused" | "checking";

export interface Segment {
  kind: SegmentKind;
  from: number;
  to: number;
  /** Its name for those who do not see it. */
  name: string;
}

export function segmentsOf(task: RunTask, start: number, elapsed: number): Segment[] {
  const at = (moment: string | null) => (moment === null ? elapsed : millis(moment) - start);
  const begun = task.attempts[0]?.startedAt ?? task.endedAt;
  const waits: Segment[] = task.readyAt === null ? [] : [{ kind: "waiting", from: at(task.readyAt), to: at(begun), name: "waited for a slot" }];
  const attempts = task.attempts.flatMap((attempt): Segment[] => {
    const isStopped = attempt.state === "failed" && attempt.outcome === "cancelled";
    const check = isStopped ? null : attempt.verification;
    const end = attempt.agentEndedAt ?? check?.startedAt ?? attempt.endedAt;
    const kind = end === null ? "running" : isStopped ? "cancelled" : check === null && attempt.state === "failed" ? "failed" : "ended";
    const words = { running: "running", failed: "failed by itself", cancelled: "was cancelled", ended: "ended" }[kind];
    const bar: Segment = { kind, from: at(attempt.startedAt), to: at(end), name: `attempt ${attempt.attempt} ${words}` };
    return check ? [bar, checked(check, at)] : [bar];
  });
  return [...waits, ...attempts];
}

function checked(check: NonNullable<RunTask["attempts"][number]["verification"]>, at: (moment: string | null) => number): Segment {
  const kind: SegmentKind = check.endedAt === null ? "checking" : check.passed ? "passed" : "refused";
  const name = { checking: "being checked", passed: "verified", refused: "refused" }[kind];
  return { kind, from: at(check.startedAt), to: at(check.endedAt), name };
}
