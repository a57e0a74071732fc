import { duration } from "../../format/numbers";
import { Button } from "../../parts/Button";
import { copy } from "../../parts/copy";
import { sentence } from "../../parts/States";
import { StatusGlyph } from "../../parts/StatusGlyph";
import type { Answered, UsedAgent } from "./answered";

export function Answer({ answered, debug }: { answered: Answered; debug: boolean }) {
  const { reply, query } = answered;
  return (
    <section className="answer" aria-label="Answer" aria-live="polite">
      <h2>{query}</h2>
      {reply.error && <p className="quote bad">{reply.error.type}: {sentence(reply.error.message)}</p>}
      <p className="text">{reply.answer}</p>
      <div className="used">
        <span className="small muted">{reply.used_agents.length === 0 ? "No worker was used." : "Used"}</span>
        {reply.used_agents.map((agent, i) => <Used key={i} agent={agent} />)}
        <span className="small muted">{duration(answered.tookMs)}</span>
      </div>
      {debug && <Steps reply={reply} />}
    </section>
  );
}

function Used({ agent }: { agent: UsedAgent }) {
  const fine = agent.status === "success";
  return (
    <span className="row tight">
      <StatusGlyph state={fine ? "done" : "failed"} verified={false} label={agent.status} />
      <span className="mono">{agent.name}</span>
      {agent.intent && <span className="mono muted">{agent.intent}</span>}
    </span>
  );
}

/** What each worker got back to the supervisor, in the order of the plan. */
function Steps({ reply }: { reply: Answered["reply"] }) {
  const steps = Object.entries(reply.intermediate_results);
  if (steps.length === 0) return <p className="muted small">No step was carried out.</p>;
  return (
    <div className="ask-steps">
      <h3 className="caption">Steps</h3>
      {steps.map(([name, result], i) => (
        <details key={name}>
          <summary>
            <StatusGlyph state={failed(result) ? "failed" : "done"} verified={false} label={failed(result) ? "failed" : "answered"} />
            <span className="mono">{name}</span>
            <span className="mono muted">{reply.used_agents[i]?.name}</span>
            {failed(result) && <span className="bad ell">{failed(result)}</span>}
          </summary>
          <pre className="code" tabIndex={0}>{JSON.stringify(result, null, 2)}</pre>
          <Button small icon="copy" onClick={() => copy(JSON.stringify(result, null, 2), name)}>Copy</Button>
        </details>
      ))}
    </div>
  );
}

function failed(result: Record<string, unknown>): string | null {
  const error = result["error"];
  if (typeof error !== "object" || error === null) return null;
  const { type, message } = error as { type?: unknown; message?: unknown };
  return [type, message].filter((word) => typeof word === "string").join(": ") || "failed";
}
