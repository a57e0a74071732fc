import type { ReactNode } from "react";
import { Failure, api, useConnection } from "../api/request";
import { touch, useAct } from "../api/resource";
import { Duration, Id, cost as dollars, count, duration, millis, tokens } from "../format";
import { Command, TextButton } from "../parts/Button";
import { Absent, Loaded } from "../parts/States";
import { StatusGlyph, type State } from "../parts/StatusGlyph";
import { toast } from "../parts/toasts";
import { isOver, useExecution, bareOutput } from "./agents";
import { Markdown } from "./Message";
import { usePieces } from "./pieces";
import type { Execution, Step } from "../api/types";
import "./monitor.css";

interface Props {
  id: string;
  name: (id: string) => string;
  /** The way back, when there is no such execution. */
  back: ReactNode;
  children?: ReactNode;
}

/** A live execution: its steps with their times, and the answer so far. */
export function RealTimeExecutionMonitor({ id, name, back, children }: Props) {
  const resource = useExecution(id);
  return (
    <section className="section monitor" aria-label="Live monitor">
      <Loaded of={resource} rows={5} absent={<Absent id={id} back={back} />}>
        {({ execution }) => <Monitor execution={execution} name={name} />}
      </Loaded>
      {children}
    </section>
  );
}

function Monitor({ execution, name }: { execution: Execution; name: (id: string) => string }) {
  const over = isOver(execution);
  const reachable = useConnection((connection) => connection.reachable);
  const pieces = usePieces(over ? null : execution.id);
  return (
    <>
      <h2>
        {over || reachable ? WORDS[execution.status] : "At work when last heard of"} <Id value={execution.id} />
        <span className="aside">{over ? <Facts execution={execution} /> : <Stop id={execution.id} />}</span>
      </h2>
      <p className="text monitor-input" tabIndex={0} role="region" aria-label="Message">
        {execution.input}
      </p>
      <ol className="steps" aria-label="Steps">
        {(execution.steps ?? []).map((step, at, all) => (
          <StepRow key={step.id} step={step} since={execution.startTime} name={name} state={stateAt(execution, at === all.length - 1)} />
        ))}
      </ol>
      {over && <Answer execution={execution} />}
      {!over && pieces !== "" && (
        <p className="agent-answer text">
          {pieces}
          <span className="caret" aria-hidden="true" />
        </p>
      )}
    </>
  );
}

const WORDS: Record<Execution["status"], string> = {
  pending: "Live",
  running: "Live",
  completed: "Completed",
  unanswered: "Unanswered",
  failed: "Failed",
  cancelled: "Stopped",
  interrupted: "Interrupted",
};

/** A step is done once another follows; the last one stands as the execution does. */
function stateAt(execution: Execution, isLast: boolean): State {
  if (!isLast) return "done";
  if (!isOver(execution)) return "running";
  return execution.status === "completed" ? "done" : execution.status === "failed" ? "failed" : "cancelled";
}

function StepRow({ step, since, name, state }: { step: Step; since: string; name: (id: string) => string; state: State }) {
  const to = step.metadata["delegatedTo"];
  const text = typeof to === "string" ? step.content.replace(to, name(to)) : step.content;
  // Times of steps are whole milliseconds.
  const passed = millis(step.timestamp) - millis(since);
  return (
    <li className="agent-step">
      <StatusGlyph state={state} />
      <span className="ell" title={text}>
        {text} <span className="muted small">{name(step.agent)}</span>
      </span>
      <span className="mono muted">{state === "running" ? <Duration since={step.timestamp} /> : passed < 1 ? "0 ms" : duration(passed)}</span>
    </li>
  );
}

function Facts({ execution: { metrics } }: { execution: Execution }) {
  const { executionTime, totalTokens, cost } = metrics;
  return (
    <>
      <Duration ms={executionTime} />
      {totalTokens !== null && <span title={`${count(totalTokens)} tokens`}>, {tokens(totalTokens)} tokens</span>}
      {cost !== null && <span title={`$${cost}`}>, {dollars(cost)}</span>}
    </>
  );
}

function Stop({ id }: { id: string }) {
  const [stop, { busy }] = useAct(async () => {
    await api.post(`/api/agents/execution/${encodeURIComponent(id)}/cancel`).catch((fault: unknown) => toast(Failure.from(fault).message));
    touch("/api/agents/");
  });
  return (
    <TextButton disabled={busy} onClick={stop}>
      Stop
    </TextButton>
  );
}

function Answer({ execution }: { execution: Execution }) {
  if (execution.answeredBy === "offline")
    return (
      <div className="agent-answer agent-offline">
        <p className="text">{bareOutput(execution.output ?? "No model is configured, so there is no answer.")} The route above is real.</p>
        <Command line="cleo config set llm.provider openai-chat" />
      </div>
    );
  return (
    <div className="agent-answer">
      {execution.error !== null && <p className="bad text">{execution.error}</p>}
      {execution.output !== null && <Markdown text={execution.output} />}
      {execution.answeredBy !== null && <p className="small muted">Answered by {execution.answeredBy === "worker" ? "a worker" : (execution.model ?? "a model")}</p>}
    </div>
  );
}
