import type { FormEvent } from "react";
import { useAct, touch } from "../../api/resource";
import { api } from "../../api/request";
import { SUPERVISOR, type useRouted } from "../../agents/agents";
import type { Agent, Decision, Execution } from "../../api/types";
import { Trouble } from "../../parts/States";
import { Button } from "../../parts/Button";
import { sendByKey } from "../../parts/editing";
import { SEND } from "../../shell/keys";
import { Field } from "../../parts/Field";

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
  const active = agents.filter((agent) => agent.id !== SUPERVISOR && agent.status === "active");
  const options = [{ value: "", label: "Auto-route" }, ...active.map(({ id, name }) => ({ value: id, label: name }))];
  const [run, { busy, failure }] = useAct(async (event?: FormEvent) => {
    event?.preventDefault();
    if (busy || message.trim() === "") return;
    const { execution } = await api.post<{ execution: Execution }>("/api/agents/execute", { input: message, ...(target === "" ? {} : { agentId: target }) });
    touch("/api/agents/");
    onRun(execution.id);
  });
  return (
    <form className="section quick" onSubmit={run} onKeyDown={sendByKey}>
      <Field label="Quick execute" rows={3} value={message} onText={onMessage} placeholder="Explain the Second War in Warcraft." />
      <div className="row quick-row">
        <Field label={<span className="unseen">Agent</span>} options={options} value={target} onText={onTarget} />
        <span className="small muted grow quick-reach" role="status">
          {preview.failure ? preview.failure.message : preview.routed && message.trim() !== "" && <Reach decision={preview.routed.route} agents={agents} />}
        </span>
        <Button look="primary" shortcut={SEND} type="submit" disabled={busy || message.trim() === ""}>
          Run
        </Button>
      </div>
      {failure && <Trouble failure={failure} retry={run} />}
    </form>
  );
}

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
