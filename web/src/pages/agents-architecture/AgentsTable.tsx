import { memo, useMemo } from "react";
import type { Resource } from "../../api/resource";
import { Monogram } from "../../agents/Monogram";
import { roleOf } from "../../agents/names";
import type { Agent, Metrics } from "../../agents/types";
import { count, duration, percent } from "../../format/numbers";
import { Loaded } from "../../parts/States";
import { Link } from "wouter";

interface Props {
  agents: readonly Agent[];
  metrics: Resource<Metrics>;
  resource: Resource<unknown>;
}

/** Most agents that are listed; Manage has all. */
const MOST = 50;

/** Every agent with how it fares; the text of the picture. */
export function AgentsTable({ agents, metrics }: Props) {
  const known = useMemo(() => agents.filter((agent) => agent.status !== "archived"), [agents]);
  return (
    <section className="agents-table" aria-labelledby="agents-table">
      <h2 id="agents-table">
        Agents <span className="muted">24 hours</span>
      </h2>
      <Loaded of={metrics}>{(facts) => <Table agents={known} facts={facts} />}</Loaded>
      {known.length > MOST && (
        <p className="small muted execution-more">
          {`The first ${MOST} of ${count(known.length)}. `}
          <Link className="link" href="/agents/manage">
            All agents
          </Link>
        </p>
      )}
    </section>
  );
}

/** Drawn anew only when the agents or the numbers are others, not while a message is typed. */
const Table = memo(function Table({ agents, facts }: { agents: readonly Agent[]; facts: Metrics }) {
  const of = new Map(facts.agents.map((one) => [one.agentId, one]));
  return (
    <table className="table">
      <thead>
        <tr>
          <th scope="col">Agent</th>
          <th scope="col" className="figure">
            Runs
          </th>
          <th scope="col" className="figure">
            Median
          </th>
          <th scope="col" className="figure">
            Success
          </th>
        </tr>
      </thead>
      <tbody>
        {agents.slice(0, MOST).map((agent) => {
          const one = of.get(agent.id);
          return (
            <tr key={agent.id}>
              <td>
                <Link className="row agents-table-name" href={`/agents/manage?agent=${encodeURIComponent(agent.id)}`}>
                  <Monogram agent={agent} />
                  <span className={agent.status === "active" ? "ell" : "ell muted"}>{agent.name}</span>
                  <span className={agent.status === "active" ? "small muted agents-table-role" : "small muted"}>
                    {agent.status === "active" ? (agent.isRuntime ? "runtime" : roleOf(agent.role)) : agent.status}
                  </span>
                </Link>
              </td>
              <td className="figure">{one?.window.executions ?? 0}</td>
              <td className="figure">{one?.window.medianMs == null ? <None /> : duration(one.window.medianMs)}</td>
              <td className="figure">{one === undefined || one.window.executions === 0 ? <None /> : percent(1 - one.window.failed / one.window.executions, 1)}</td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
});

function None() {
  return <span className="muted">none</span>;
}
