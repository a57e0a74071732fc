// What the attempts of a run tell together.
import type { Attempt, RunPage } from "../../api/types";
import { millis, useNow } from "../../format";

/** Most logs that are shown at a time. */
export const BESIDE = 4;

/** The page with the logs of these tasks ("run/task") in columns. */
export const logsOf = (steps: string[]) => `/logs?of=${steps.slice(0, BESIDE).join(",")}`;

/** How many attempts there were, failed, and said what they used. */
export function reported(page: RunPage | undefined) {
  const all = page?.tasks.flatMap((task) => task.history) ?? [];
  return {
    attempts: all.length,
    failed: all.filter((one) => one.state === "failed").length,
    reporting: all.filter((one) => one.usage !== null || one.cost !== null).length,
  };
}

/** How many agents worked from a moment on, in milliseconds since 1970. */
export function load(page: RunPage) {
  const attempts = page.tasks.flatMap((task) => task.history);
  const changes = attempts.flatMap((one) => {
    const begin = { at: millis(one.startedAt), by: 1 };
    const end = one.agentEndedAt ?? one.endedAt;
    return end === null ? [begin] : [begin, { at: millis(end), by: -1 }];
  });
  changes.sort((a, b) => a.at - b.at || a.by - b.by);
  let n = 0;
  return changes.map(({ at, by }) => {
    n += by;
    return { at, n };
  });
}

/** When cleo looked at what an attempt left, and whether that held; null where nothing was looked at. */
export function checkOf(attempt: Attempt) {
  if (attempt.agentEndedAt === null || attempt.state === "cancelled") return null;
  const isJudged = attempt.state === "verifying" || attempt.state === "done" || attempt.violations.length > 0;
  return isJudged ? { startedAt: attempt.agentEndedAt, endedAt: attempt.endedAt, passed: attempt.state === "done" } : null;
}

const answeredAt = new Map<string, number>();

/** Milliseconds of the run so far, by the server's clock: the browser only adds what passed since it answered first. */
export function useElapsed({ run, now: answer }: RunPage, live: boolean) {
  const now = useNow();
  const at = answeredAt.get(answer) ?? now;
  if (answeredAt.size > 50) answeredAt.clear();
  answeredAt.set(answer, at);
  const end = live ? now + millis(answer) - at : millis(run.completedAt ?? answer);
  return Math.max(0, end - millis(run.startedAt));
}
