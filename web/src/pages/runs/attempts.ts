// What the attempts of a run tell together.
import type { Attempt, RunPage } from "../../api/types";
import { millis } from "../../format";

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
