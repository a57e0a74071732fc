import { memo, useState } from "react";
import { Monogram } from "../../agents/Monogram";
import { kindOf, roleOf } from "../../agents/names";
import type { Agent, Metrics } from "../../agents/types";
import { Ago } from "../../format";
import { count, percent } from "../../format/numbers";
import { Button } from "../../parts/Button";
import { StatusGlyph } from "../../parts/StatusGlyph";
import { AgentMenu } from "./AgentMenu";

interface Props {
  list: readonly Agent[];
  metrics: Metrics | undefined;
  selected: string | null;
  name: (id: string) => string;
  onOpen: (agent: Agent) => void;
}

/** How many rows are added at once. */
const PAGE = 100;

export function ManageTable({ list, metrics, selected, onOpen }: Props) {
  const [most, setMost] = useState(PAGE);
  const of = new Map(metrics?.agents.map((one) => [one.agentId, one]));
  return (
    <>
      <table className="table manage-table">
        <thead>
          <tr>
            <th scope="col">Agent</th>
            <th scope="col">Role</th>
            <th scope="col">Tags</th>
            <th scope="col">Model</th>
            <th scope="col" className="figure">
              Runs
            </th>
            <th scope="col" className="figure">
              Success
            </th>
            <th scope="col">Last used</th>
            <th scope="col">
              <span className="unseen">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {list.slice(0, most).map((agent) => (
            <Row key={agent.id} agent={agent} success={of.get(agent.id)?.successRate ?? null} isSelected={agent.id === selected} onOpen={onOpen} />
          ))}
        </tbody>
      </table>
      {list.length > most && (
        <p className="manage-more">
          <Button onClick={() => setMost(most + PAGE)}>{`Show ${Math.min(PAGE, list.length - most)} more of ${list.length}`}</Button>
        </p>
      )}
    </>
  );
}

const Row = memo(function Row({ agent, success, isSelected, onOpen }: { agent: Agent; success: number | null; isSelected: boolean; onOpen: (agent: Agent) => void }) {
  const role = agent.kind === "runtime" || agent.kind === "http" || agent.kind === "cli" ? kindOf(agent.kind) : roleOf(agent.role);
  return (
    <tr aria-selected={isSelected} onClick={(event) => event.target instanceof Element && !event.target.closest("button, a, [role=menu]") && onOpen(agent)}>
      <td>
        <span className="row manage-name">
          <Monogram agent={agent} />
          <button type="button" className="ell strong" onClick={() => onOpen(agent)}>
            {agent.name}
          </button>
          {agent.status !== "active" && (
            <span className="row small muted manage-status">
              <StatusGlyph state={agent.status === "paused" ? "paused" : "cancelled"} label="" />
              {agent.status}
            </span>
          )}
        </span>
      </td>
      <td className="muted">{role}</td>
      <td className="muted ell manage-tags" title={agent.tags.join(", ")}>
        {agent.tags.slice(0, 3).join(" ")}
        {agent.tags.length > 3 && ` +${agent.tags.length - 3}`}
      </td>
      <td className="mono muted ell">{agent.model}</td>
      <td className="figure">{count(agent.executions)}</td>
      <td className="figure">{success === null ? <span className="muted">none</span> : percent(success, 1)}</td>
      <td className="muted">{agent.lastUsedAt === null ? "never" : <Ago at={agent.lastUsedAt} />}</td>
      <td>
        <AgentMenu agent={agent} onOpen={() => onOpen(agent)} />
      </td>
    </tr>
  );
});
