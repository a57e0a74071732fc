import type { Attempt, RunTask } from "../../api/runs";
import { Cost, Duration } from "../../format";
import { count } from "../../format/numbers";
import { Term } from "../../parts/Facts";

/** What the attempt took, as its runner reported it; nothing is estimated. */
export function UsageTab({ task, attempt }: { task: RunTask; attempt: Attempt }) {
  const figures = Object.entries(attempt.usage ?? {}).filter(([, value]) => typeof value === "number") as [string, number][];
  return (
    <div className="section">
      <dl className="facts">
        <Term name="Runner" className="mono">
          {attempt.runner ?? "unknown"}
        </Term>
        <Term name="Time">
          <Duration {...(attempt.endedAt ? { ms: attempt.durationMs } : { since: attempt.startedAt })} />
        </Term>
        <Term name="Turns">{attempt.turns ?? "unknown"}</Term>
        <Term name="Exit code">{attempt.exitCode ?? (attempt.endedAt ? "none, ended by a signal" : "still running")}</Term>
        {figures.map(([name, n]) => (
          <Term key={name} name={words(name)}>
            {count(n)}
          </Term>
        ))}
        <Term name="Cost">
          <Cost usd={attempt.cost} />
        </Term>
        <Term name="Skill" className="mono">
          {task.skill}
        </Term>
      </dl>
      {figures.length === 0 && <p className="muted small">This runner reports no tokens.</p>}
    </div>
  );
}

function words(name: string) {
  const all = name.replace(/([A-Z])/g, " $1").toLowerCase();
  return all.charAt(0).toUpperCase() + all.slice(1);
}
