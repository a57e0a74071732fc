// A run without tasks: a routed message or a query, with its steps and its answer.
import type { RunPage, RunStep } from "../../api/runs";
import { duration } from "../../format/numbers";
import { millis } from "../../format/time";
import { Empty } from "../../parts/States";
import { StatusGlyph } from "../../parts/StatusGlyph";

export function Execution({ page }: { page: RunPage }) {
  const { run } = page;
  return (
    <div className="execution" tabIndex={0} role="region" aria-label="Question and answer">
      <section className="section">
        <h2>Asked {run.user && <span className="aside">by {run.user}</span>}</h2>
        <p className="text">{run.input ?? "unknown"}</p>
      </section>
      {run.routingReason && (
        <section className="section">
          <h2>
            Went to {run.agent ?? "finalize"} {run.routingScore != null && <span className="aside">score {run.routingScore}</span>}
          </h2>
          <p className="text muted">{run.routingReason}</p>
        </section>
      )}
      <section className="section">
        <h2>Answer</h2>
        {run.answeredBy === "offline" && <p className="notice">No model is configured, so nobody answered. What follows is what the offline agent wrote.</p>}
        {run.output ? <p className="text">{run.output}</p> : <p className="muted">{run.status === "running" ? "Not there yet." : "There is none."}</p>}
      </section>
      <section className="section">
        <h2>
          Steps <span className="aside">{page.steps.length}</span>
        </h2>
        {page.steps.length === 0 && <Empty>No steps were kept of this run.</Empty>}
        <ol className="steps">
          {page.steps.map((step, i) => (
            <Step key={step.id} step={step} start={run.startedAt} last={i === page.steps.length - 1} live={run.status === "running"} />
          ))}
        </ol>
      </section>
    </div>
  );
}

function Step({ step, start, last, live }: { step: RunStep; start: string; last: boolean; live: boolean }) {
  return (
    <li>
      <StatusGlyph state={last && live ? "running" : "done"} verified={false} label={step.action} />
      <span className="mono muted">{step.agent}</span>
      <span className="text grow">{step.content}</span>
      <span className="mono muted">{duration(Math.max(0, millis(step.timestamp) - millis(start)))}</span>
    </li>
  );
}
