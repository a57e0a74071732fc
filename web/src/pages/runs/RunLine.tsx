import { isLive, type RunRow } from "../../api/types";
import { Cost, Duration, At } from "../../format";
import { StatusGlyph, type State } from "../../parts/StatusGlyph";
import { sentence } from "../../parts/States";
import { Link } from "../../router";

const GLYPHS: Record<RunRow["status"], State> = { pending: "waiting", running: "running", completed: "done", unanswered: "skipped", failed: "failed", cancelled: "cancelled", interrupted: "paused" };

/** A run's state. Only tasks are checked by cleo: the end of a chat or a query is not green. */
export function RunGlyph({ run, label }: { run: Pick<RunRow, "status" | "kind">; label?: string }) {
  const checked = run.kind === "epic" || run.kind === "tasks";
  return <StatusGlyph state={GLYPHS[run.status]} verified={checked} label={label ?? (run.status === "completed" && !checked ? "Ended" : STATUS_WORDS[run.status])} />;
}

export const STATUS_WORDS: Record<RunRow["status"], string> = {
  pending: "Queued",
  running: "Live",
  completed: "Finished",
  unanswered: "Unanswered",
  failed: "Failed",
  cancelled: "Cancelled",
  interrupted: "Interrupted",
};

export function RunLine({ run, selected }: { run: RunRow; selected: boolean }) {
  return (
    <Link className={run.steps ? "run-line" : "run-line plain"} href={`/runs/${encodeURIComponent(run.id)}`} data-selected={selected || undefined}>
      <RunGlyph run={run} />
      <span className="title">
        <span className="ell">{run.title}</span>
        {run.fault && (
          <span className={`ell small ${run.status === "cancelled" && !run.fault.task ? "muted" : "bad"}`}>
            {run.fault.task && !run.fault.message.startsWith(run.fault.task) ? `${isLive(run.status) ? "failed" : "stopped"} at ${run.fault.task}: ` : ""}
            {sentence(run.fault.message)}
          </span>
        )}
      </span>
      <span className="kind ell small muted">{run.steps ? run.kind : (run.agent ?? run.kind)}</span>
      {run.bar && run.steps ? <Bar run={run} /> : <span className="steps-bar" />}
      <span className="figure">{run.steps ? `${run.steps.done} of ${run.steps.total}` : ""}</span>
      <span className="figure desk-only">
        <Duration {...(isLive(run.status) ? { since: run.startedAt } : { ms: run.durationMs })} />
      </span>
      <span className="figure desk-only">{run.cost !== null ? <Cost usd={run.cost} /> : ""}</span>
      <span className="ell small muted desk-only">{run.user && `by ${run.user}`}</span>
      <At className="figure small muted" at={run.startedAt} />
    </Link>
  );
}

/** One cell a step, in wave order. */
function Bar({ run }: { run: RunRow }) {
  const steps = run.steps;
  const name = steps
    ? `${steps.done} verified, ${steps.failed} failed, ${steps.cancelled > 0 ? `${steps.cancelled} cancelled, ` : ""}${steps.running + steps.verifying} at work, ${steps.waiting} waiting`
    : "";
  return (
    <span className="steps-bar" role="img" aria-label={name} title={name}>
      {run.bar?.map((state, i) => (
        <i key={i} className={state ?? "none"} />
      ))}
    </span>
  );
}
