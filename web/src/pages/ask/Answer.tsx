import type { ReactNode } from "react";
import { duration } from "../../format/numbers";
import { Button } from "../../parts/Button";
import { copy } from "../../parts/copy";
import { sentence } from "../../parts/States";
import type { State } from "../../parts/state";
import { StatusGlyph } from "../../parts/StatusGlyph";
import type { Answered, UsedAgent } from "./answered";
import { planWords, sourceWords, stepsOf, tookOf, type Told } from "./kept";

interface Props {
  answered: Answered;
  /** What happened in its run. */
  told: readonly Told[];
  debug: boolean;
  /** Links after the time. */
  children?: ReactNode;
}

export function Answer({ answered, told, debug, children }: Props) {
  const { reply, query, tookMs } = answered;
  const plan = planWords(told);
  return (
    <section className="answer" aria-label="Answer" aria-live="polite">
      <h2>{query}</h2>
      {reply.error && <p className="quote bad">{sentence(`${reply.error.type}: ${reply.error.message}`)}</p>}
      <p className="text">{reply.answer}</p>
      <div className="used">
        <span className="small muted">{reply.used_agents.length === 0 ? "No worker was used." : "Used"}</span>
        {reply.used_agents.map((agent, i) => (
          <Used key={i} agent={agent} />
        ))}
        {tookMs !== null && <span className="small muted">{duration(tookMs)}</span>}
        <span className="small">{children}</span>
      </div>
      {plan && <p className="small muted">{plan}</p>}
      {debug && <Steps reply={reply} told={told} />}
    </section>
  );
}

const GLYPHS: Record<string, State> = { success: "done", running: "running", stopped: "cancelled" };

function Used({ agent }: { agent: UsedAgent }) {
  return (
    <span className="row tight">
      <StatusGlyph state={GLYPHS[agent.status] ?? "failed"} verified={false} label={agent.status} />
      <span className="mono">{agent.name}</span>
      {agent.intent && <span className="mono muted">{agent.intent}</span>}
    </span>
  );
}

/** What each worker got back to the supervisor, in the order of the plan. */
function Steps({ reply, told }: { reply: Answered["reply"]; told: readonly Told[] }) {
  const steps = Object.entries(reply.intermediate_results);
  if (steps.length === 0) return <p className="muted small">No step was carried out.</p>;
  return (
    <div className="ask-steps">
      <h3 className="caption">Steps</h3>
      {steps.map(([name, result], i) => (
        <details key={name}>
          <summary>
            <StatusGlyph state={GLYPHS[String(result["status"])] ?? "failed"} verified={false} label={String(result["status"])} />
            <span className="mono">{name}</span>
            <span className="mono muted">{reply.used_agents[i]?.name}</span>
            <Course name={name} told={told} />
            {failed(result) && <span className="bad ell">{failed(result)}</span>}
          </summary>
          <pre className="code" tabIndex={0}>
            {JSON.stringify(result, null, 2)}
          </pre>
          <Button small icon="copy" onClick={() => copy(JSON.stringify(result, null, 2), name)}>
            Copy
          </Button>
        </details>
      ))}
    </div>
  );
}

/** What a step worked on, and how long. */
function Course({ name, told }: { name: string; told: readonly Told[] }) {
  const step = stepsOf(told).find((one) => `step_${one.step_id}` === name);
  if (!step) return null;
  const took = tookOf(told, step.step_id);
  return (
    <span className="small muted">
      ← {sourceWords(step)}
      {took !== null && `, ${duration(took)}`}
    </span>
  );
}

function failed(result: Record<string, unknown>): string | null {
  const error = result["error"];
  if (typeof error !== "object" || error === null) return null;
  const { type, message } = error as { type?: unknown; message?: unknown };
  return [type, message].filter((word) => typeof word === "string").join(": ") || "failed";
}
