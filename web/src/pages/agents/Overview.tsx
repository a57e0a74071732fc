import { path } from "../../api/request";
import { settled, useResource } from "../../api/resource";
import { useAgents, useExecutions, useMetrics } from "../../agents/data";
import type { Metrics, TaskStats } from "../../agents/types";
import { count, duration, plural } from "../../format/numbers";
import { Icon } from "../../parts/Icon";
import { Ghost } from "../../parts/States";
import { Link } from "wouter";
import { useKeys } from "../../shell/keys";
import { navigate } from "../../router/location";
import { Page } from "../../shell/Page";
import { FirstSteps } from "./FirstSteps";
import { HoursChart } from "./HoursChart";
import { Modules } from "./Modules";
import { Recent } from "./Recent";
import { Went } from "./Went";
import "./overview.css";

export const NEW_AGENT = "/agents/manage?edit=1";
/** How many of the last executions are drawn. */
const DRAWN = 40;

export default function Overview() {
  const { resource, agents, of } = useAgents();
  const metrics = useMetrics();
  const executions = useExecutions(DRAWN);
  const stats = useResource<{ stats: TaskStats }>("/api/tasks/stats", { on: (event) => event.kind === "task" });
  const talks = useResource<{ total: number }>(path("/api/conversations", { limit: 1, status: "active" }), { on: (event) => event.kind === "conversation" });
  const total = metrics.data?.dashboard.totalExecutions;
  const isThere = settled(resource, metrics, executions, stats, talks);
  useKeys("Overview", [{ keys: "N", does: "New agent", run: () => navigate(NEW_AGENT) }]);
  return (
    <Page
      title="Agents"
      actions={
        <Link className="button primary" href={NEW_AGENT}>
          <Icon name="plus" />
          New agent
        </Link>
      }
    >
      <div className="agents-overview">
        <header className="agents-overview-head">
          <p className="agents-overview-sum">
            {resource.data && total !== undefined ? `${plural(agents.length, "agent")}, ${plural(metrics.data?.dashboard.window.executions ?? 0, "execution")} in 24 h` : " "}
          </p>
          <p className="muted">Messages go to the agent whose words and tags they name. Every route keeps its reasons.</p>
        </header>
        {!isThere && <Ghost rows={8} />}
        <div className="agents-overview-main" hidden={!isThere}>
          {total === 0 && <FirstSteps agents={agents} executions={executions.data?.executions ?? []} />}
          <Modules agents={agents} loaded={resource} metrics={metrics.data} conversations={talks.data?.total} stats={stats.data?.stats} />
          <QuickActions />
          {metrics.data && total !== undefined && total > 0 && <Went patterns={metrics.data.dashboard.routingPatterns} of={of} />}
        </div>
        <aside className="agents-overview-side" aria-label="Recent activity" hidden={!isThere}>
          <Recent executions={executions} of={of} />
          {metrics.data && metrics.data.dashboard.window.executions > 0 && <Day window={metrics.data.dashboard.window} />}
        </aside>
      </div>
    </Page>
  );
}

function QuickActions() {
  return (
    <p className="agents-overview-quick">
      <Link className="button" href={NEW_AGENT}>
        Create agent <kbd>N</kbd>
      </Link>
      <Link className="button" href="/agents/architecture">
        View architecture
      </Link>
      <Link className="button" href="/agents/chat">
        Start chat
      </Link>
    </p>
  );
}

/** How much was executed in each of the last 24 hours, and how long answers took. */
function Day({ window }: { window: Metrics["dashboard"]["window"] }) {
  const { executions, failed, answered, medianMs, p95Ms, isWhole } = window;
  return (
    <section className="section">
      <h2>
        Last 24 hours <span className="aside">{medianMs === null ? "no answers yet" : `median ${duration(medianMs)}`}</span>
      </h2>
      <HoursChart window={window} />
      <p className="small muted">
        {isWhole ? plural(executions, "execution") : `The last ${count(executions)} executions`}, {count(failed)} failed.
        {p95Ms !== null && ` Of ${plural(answered, "answer")} 95 in 100 took no longer than ${duration(p95Ms)}.`}
      </p>
    </section>
  );
}
