import type { Attempt, RunTask } from "../../api/runs";
import { Cost, Duration } from "../../format";
import { count } from "../../format/numbers";

/** What the attempt took, as its runner reported it; nothing is estimated. */
export function UsageTab({ task, attempt }: { task: RunTask; attempt: Attempt }) {
  const figures = Object.entries(attempt.usage ?? {}).filter(([, value]) => typeof value === "number") as [string, number][];
  return (
    <div className="section">
      <dl className="facts">
        <dt>Runner</dt>
        <dd className="mono">{attempt.runner ?? "unknown"}</dd>
        <dt>Time</dt>
        <dd>
          <Duration {...(attempt.endedAt ? { ms: attempt.durationMs } : { since: attempt.startedAt })} />
        </dd>
        <dt>Turns</dt>
        <dd>{attempt.turns ?? "unknown"}</dd>
        <dt>Exit code</dt>
        <dd>{attempt.exitCode ?? (attempt.endedAt ? "none, ended by a signal" : "still running")}</dd>
        {figures.map(([name, n]) => (
          <Figure key={name} name={name} n={n} />
        ))}
        <dt>Cost</dt>
        <dd>
          <Cost usd={attempt.cost} />
        </dd>
        {task.skill && (
          <>
            <dt>Skill</dt>
            <dd className="mono">{task.skill}</dd>
          </>
        )}
      </dl>
      {figures.length === 0 && <p className="muted small">This runner reports no tokens.</p>}
    </div>
  );
}

function Figure({ name, n }: { name: string; n: number }) {
  const words = name.replace(/([A-Z])/g, " $1").toLowerCase();
  return (
    <>
      <dt>{words.charAt(0).toUpperCase() + words.slice(1)}</dt>
      <dd>{count(n)}</dd>
    </>
  );
}
