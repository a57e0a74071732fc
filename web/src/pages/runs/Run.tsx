// One run: what happened when, what was said, and what cleo found.
import { isLive, touchesRun, type RunPage } from "../../api/types";
import { useResource } from "../../api/resource";
import { Loaded, sentence } from "../../parts/States";
import { Page, Unknown } from "../../shell/Page";
import { usePlace, withQuery, TextLink } from "../../router";
import type { ViewProps } from "../../routes";
import { reported, useElapsed } from "./attempts";
import { RunActions } from "./RunActions";
import { TaskRun } from "./TaskRun";
import { Cost, Duration, Tokens, tokens } from "../../format";
import { Fact, Rail } from "../../parts/Facts";
import { RealTimeExecutionMonitor } from "../../agents/RealTimeExecutionMonitor";
import { useAgents } from "../../agents/agents";
import { later } from "../../parts/later";
import "./runs.css";

const RunCompare = later(() => import("./RunCompare"));

const CRUMB = { label: "Runs", href: "/runs" };

export default function Run({ params }: ViewProps) {
  const id = params["id"] ?? "";
  return <One key={id} id={id} />;
}

function One({ id }: { id: string }) {
  const run = useResource<RunPage>(`/api/runs/${encodeURIComponent(id)}`, { on: touchesRun(id) });
  const data = run.data;
  const other = usePlace().query.get("compare");
  if (run.failure?.status === 404) return <Unknown id={id} crumb={CRUMB} />;
  return (
    <Page title={data?.run.title ?? id} id={id} crumbs={[CRUMB]} actions={data && <RunActions run={data.run} />} rail={<RunRail page={data} />}>
      <div className="pane run-pane">
        {data && <RunNotice run={data.run} />}
        <Loaded of={run} rows={10}>
          {(page) => {
            if (other !== null && page.tasks.length > 0) return <RunCompare key={other} page={page} other={other} />;
            return page.tasks.length > 0 ? <TaskRun page={page} live={isLive(page.run.status)} /> : <Execution page={page} />;
          }}
        </Loaded>
      </div>
    </Page>
  );
}

function RunRail({ page }: { page: RunPage | undefined }) {
  const run = page?.run;
  const steps = run?.steps;
  const { attempts, failed, reporting } = reported(page);
  const out = run?.usage?.outputTokens;
  const waits = page?.tasks.find((task) => task.outcome === "blocked" && task.state !== "done")?.taskId;
  const source = attempts > 0 ? `reported for ${reporting} of ${attempts} attempts` : undefined;
  return (
    <Rail>
      <Fact label="Elapsed" value={page && <Elapsed page={page} />} />
      {steps && <Fact label="Verified steps" value={steps.done} unit={`of ${steps.total}`} />}
      {run && steps && isLive(run.status) && (
        <Fact
          label="Running"
          value={steps.running}
          glyph={steps.running > 0 ? "running" : undefined}
          unit={`${steps.verifying > 0 ? `+${steps.verifying} verifying, ` : ""}${run.limit ? `limit ${run.limit}` : "no limit"}`}
        />
      )}
      {steps && steps.failed > 0 && <Fact label="Failed" glyph="failed" value={steps.failed} />}
      {steps && steps.cancelled > 0 && <Fact label="Cancelled" glyph="cancelled" value={steps.cancelled} />}
      {steps && <Fact label="Attempts" value={attempts} unit={failed > 0 ? `${failed} failed` : undefined} />}
      {run && !steps && <Fact label="Answered by" value={run.answeredBy === "offline" ? "no agent: no model is configured" : (run.answeredBy ?? "unknown")} />}
      <Fact label="Tokens" value={page && <Tokens n={run?.usage?.inputTokens} />} unit={out == null ? undefined : `in, ${tokens(out)} out`} title={source} />
      <Fact label="Cost" value={page && <Cost usd={run?.cost} />} unit={source} />
      {run && run.needsYou > 0 && <Fact label="Needs you" glyph="needsYou" value={run.needsYou} unit={waits && `${waits} is blocked`} href={waits && withQuery({ task: waits, attempt: null })} />}
    </Rail>
  );
}

function Elapsed({ page }: { page: RunPage }) {
  const isOver = !isLive(page.run.status);
  const elapsed = useElapsed(page, !isOver);
  return <Duration ms={isOver ? page.run.durationMs : Math.floor(elapsed / 1000) * 1000} />;
}

/** The one thing to know about the run before anything else. */
function RunNotice({ run }: { run: RunPage["run"] }) {
  if (run.status === "pending") return <p className="notice">Starts when a slot is free.</p>;
  if (run.status === "interrupted") return <p className="notice">Interrupted: its process ended. Resume continues where it stopped.</p>;
  if (run.status === "cancelled" && !run.fault?.task)
    return (
      <p className="notice">
        {sentence(run.fault?.message ?? "cancelled")}
        {run.steps && " What is verified stays done, and Resume continues with the rest."}
      </p>
    );
  if (!run.fault) return null;
  return (
    <p className="notice bad">
      <span>
        {run.fault.task && (
          <>
            <TextLink href={`?task=${encodeURIComponent(run.fault.task)}`}>{run.fault.task}</TextLink>:{" "}
          </>
        )}
        {sentence(run.fault.message)}
      </span>
    </p>
  );
}

/** What is no run over tasks: an execution with its steps, or a question with its answer. */
function Execution({ page: { run } }: { page: RunPage }) {
  const { of } = useAgents();
  const pending = run.coordinator ? `The coordinator is ${run.coordinator}.` : "Not there yet.";
  if (run.kind === "execution")
    return (
      <div className="execution">
        <RealTimeExecutionMonitor id={run.id} name={(id) => of(id)?.name ?? id} back={<TextLink href="/runs">All runs</TextLink>} />
      </div>
    );
  return (
    <div className="execution" tabIndex={0} role="region" aria-label="Question and answer">
      <section className="section">
        <h2>Asked {run.user && <span className="aside">by {run.user}</span>}</h2>
        <p className="text">{run.input ?? "unknown"}</p>
      </section>
      <section className="section">
        <h2>Answer {run.kind === "query" && <TextLink href={`/?execution=${encodeURIComponent(run.id)}&debug=1`}>Who was asked</TextLink>}</h2>
        {run.output ? <p className="text">{run.output}</p> : <p className="muted">{run.status === "running" ? pending : "There is none."}</p>}
      </section>
    </div>
  );
}
