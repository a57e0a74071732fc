import { Monogram } from "../../agents/Monogram";
import { FINALIZE } from "../../agents/names";
import type { Agent, Metrics } from "../../agents/types";
import { count, percent } from "../../format/numbers";
import { Link } from "wouter";

interface Props {
  patterns: Metrics["dashboard"]["routingPatterns"];
  of: (id: string) => Agent | undefined;
}

/** Most rows; the architecture page has all. */
const MOST = 8;

/** Where messages went: one bar for each agent, on one scale from 0. */
export function Went({ patterns, of }: Props) {
  const most = patterns[0]?.count ?? 1;
  const all = patterns.reduce((sum, one) => sum + one.count, 0);
  return (
    <section className="section" aria-labelledby="went">
      <h2 id="went">Where messages went</h2>
      <ul>
        {patterns.slice(0, MOST).map((one) => (
          <li key={one.agentId} className="went">
            <Name id={one.agentId} agent={of(one.agentId)} />
            <span className="went-bar" aria-hidden="true" style={{ width: `${(100 * one.count) / most}%` }} />
            <span className="right">{count(one.count)}</span>
            <span className="right muted">{percent(one.count, all)}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Name({ id, agent }: { id: string; agent: Agent | undefined }) {
  if (id === FINALIZE) return <span className="ell muted">no agent fitted</span>;
  return (
    <Link className="row" href={`/agents/manage?agent=${encodeURIComponent(id)}`}>
      <Monogram agent={agent} />
      <span className="ell">{agent?.name ?? id}</span>
    </Link>
  );
}
