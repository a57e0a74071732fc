import { memo, useId, type KeyboardEvent } from "react";
import { useAct, touch } from "../../api/resource";
import { api } from "../../api/request";
import { SUPERVISOR, type useRouted } from "../../agents/agents";
import type { Agent, Decision, Execution } from "../../api/types";
import { Trouble } from "../../parts/States";
import { Button } from "../../parts/Button";
import { isMac } from "../../shell/keys";

interface Props {
  message: string;
  onMessage: (message: string) => void;
  /** The agent that is asked for; empty to be routed. */
  target: string;
  onTarget: (id: string) => void;
  agents: readonly Agent[];
  preview: ReturnType<typeof useRouted>;
  onRun: (id: string) => void;
}

/** A message, where it would go, and the button that sends it there. */
export function QuickExecute({ message, onMessage, target, onTarget, agents, preview, onRun }: Props) {
  const [field, choice, hint] = [useId(), useId(), useId()];
  const [run, { busy, failure }] = useAct(async () => {
    if (busy || message.trim() === "") return;
    const { execution } = await api.post<{ execution: Execution }>("/api/agents/execute", { input: message, ...(target === "" ? {} : { agentId: target }) });
    touch("/api/agents/");
    onRun(execution.id);
  });
  const keys = (event: KeyboardEvent) => {
    if (event.key === "Enter" && (event.metaKey || event.ctrlKey)) {
      event.preventDefault();
      run();
    }
  };
  return (
    <section className="section quick">
      <h2>
        <label htmlFor={field}>Quick execute</label>
      </h2>
      <textarea
        id={field}
        className="input"
        rows={3}
        value={message}
        aria-describedby={hint}
        onChange={(event) => onMessage(event.target.value)}
        onKeyDown={keys}
        placeholder="Explain the Second War in Warcraft."
      />
      <div className="row quick-row">
        <label className="unseen" htmlFor={choice}>
          Agent
        </label>
        <select id={choice} className="input" value={target} onChange={(event) => onTarget(event.target.value)}>
          <option value="">Auto-route</option>
          <Choices agents={agents} />
        </select>
        <span className="small muted grow quick-reach" id={hint} role="status">
          {preview.failure ? preview.failure.message : preview.routed && message.trim() !== "" && <Reach decision={preview.routed.route} agents={agents} />}
        </span>
        <Button look="primary" shortcut={isMac ? "⌘↵" : "Ctrl ↵"} disabled={busy || message.trim() === ""} onClick={run}>
          Run
        </Button>
      </div>
      {failure && <Trouble failure={failure} retry={run} />}
    </section>
  );
}

/** All agents that can be requested; drawn again only when the agents change. */
const Choices = memo(function Choices({ agents }: { agents: readonly Agent[] }) {
  const active = agents.filter((agent) => agent.id !== SUPERVISOR && agent.status === "active");
  return active.map((agent) => (
    <option key={agent.id} value={agent.id}>
      {agent.name}
    </option>
  ));
});

/** Where the message goes, in a few words. */
function Reach({ decision, agents }: { decision: Decision; agents: readonly Agent[] }) {
  const name = (id: string) => agents.find((agent) => agent.id === id)?.name ?? id;
  if (decision.decided === "requested")
    return (
      <>
        <b>{name(decision.agent)}</b>, asked for, not scored
      </>
    );
  if (decision.decided === "finalize") return <>no agent scores above 0, finalize answers</>;
  return (
    <>
      reaches <b>{name(decision.agent)}</b>, {decision.score} to {decision.runnerUp?.score ?? 0}
    </>
  );
}
