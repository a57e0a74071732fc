import type { Agent, Execution, Metrics } from "../../agents/types";
import { count, duration } from "../../format/numbers";
import { Fact, Rail } from "../../parts/Rail";

interface Props {
  metrics: Metrics | undefined;
  executions: readonly Execution[] | undefined;
  running: number;
  name: (id: string) => string;
  of: (id: string) => Agent | undefined;
}

export function ArchitectureRail({ metrics, executions, running, name, of }: Props) {
  const all = metrics?.dashboard;
  const day = all?.window;
  return (
    <Rail>
      <Fact label="Active agents" value={all?.activeAgents} unit={all && `of ${all.totalAgents}`} href="/agents/manage?status=active" title="Agents that are active, the supervisor too" />
      <Fact label="Running now" value={executions && running} glyph={running > 0 ? "running" : undefined} title="Executions that have not ended" />
      <Fact
        label="Executions 24 h"
        value={day && `${count(day.executions)}${day.isWhole ? "" : "+"}`}
        unit={day && (day.failed > 0 ? `${count(day.failed)} failed` : "none failed")}
        title={all && `${count(all.totalExecutions)} since the beginning`}
      />
      <Fact
        label="Median answer"
        value={day && (day.medianMs === null ? "none yet" : duration(day.medianMs))}
        unit={day && day.p95Ms !== null ? `p95 ${duration(day.p95Ms)}` : undefined}
        title={day && `Of ${count(day.answered)} in 24 hours that a model or a worker answered`}
      />
      <Fact wide label="Where messages went" value={all && <ShareBar patterns={all.routingPatterns} name={name} of={of} />} />
    </Rail>
  );
}

interface BarProps {
  patterns: Metrics["dashboard"]["routingPatterns"];
  name: (id: string) => string;
  of: (id: string) => Agent | undefined;
}

/** Most parts that have a name; the others are one. */
const NAMED = 6;

function ShareBar({ patterns, name, of }: BarProps) {
  if (patterns.length === 0) return <span className="muted agent-share-none">no messages yet</span>;
  const named = patterns.slice(0, NAMED);
  const rest = patterns.slice(NAMED).reduce((sum, one) => sum + one.count, 0);
  const parts = named.map((one) => ({ id: one.agentId, name: one.agentId === "finalize" ? "none" : name(one.agentId), count: one.count, color: of(one.agentId)?.color ?? "var(--n7)" }));
  if (rest > 0) parts.push({ id: "others", name: "others", count: rest, color: "var(--n9)" });
  return (
    <span className="agent-share">
      {parts.map((one) => (
        <span key={one.id} style={{ flexGrow: one.count, borderTopColor: one.color }} title={`${one.name}: ${count(one.count)}`}>
          {one.name} <b>{count(one.count)}</b>
        </span>
      ))}
    </span>
  );
}
