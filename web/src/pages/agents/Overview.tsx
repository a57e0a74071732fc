import { path } from "../../api/request";
import { useResource } from "../../api/resource";
import { spread, times, useAgents, useExecutions, useMetrics } from "../../agents/data";
import type { TaskStats } from "../../agents/types";
import { count, duration, plural } from "../../format/numbers";
import { Icon } from "../../parts/Icon";
import { Link } from "../../router/Link";
import { useKeys } from "../../shell/keys";
import { navigate } from "../../router/location";
import { Page } from "../../shell/Page";
import { FirstSteps } from "./FirstSteps";
import { Modules } from "./Modules";
import { Recent } from "./Recent";
import { TimesChart } from "./TimesChart";
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
            {resource.data && total !== undefined ? `${plural(agents.length, "agent")}, ${plural(total, "execution")}` : " "}
          </p>
          <p className="muted">Messages go to the agent whose words and tags they name. Every route keeps its reasons.</p>
        </header>
        <div className="agents-overview-main">
          {total === 0 && <FirstSteps agents={agents} executions={executions.data?.executions ?? []} />}
          <Modules agents={agents} loaded={resource} metrics={metrics.data} conversations={talks.data?.total} stats={stats.data?.stats} />
          <QuickActions />
          {metrics.data && total !== undefined && total > 0 && <Went patterns={metrics.data.dashboard.routingPatterns} of={of} />}
        </div>
        <aside className="agents-overview-side" aria-label="Recent activity">
          <Recent executions={executions} of={of} />
          <Answers list={times(executions.data?.executions ?? [])} />
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

/** How long the last answers took, newest at the right. */
function Answers({ list }: { list: number[] }) {
  const middle = spread(list);
  if (!middle) return null;
  return (
    <section className="section">
      <h2>
        Time to an answer <span className="aside">median {duration(middle.median)}</span>
      </h2>
      <TimesChart values={[...list].reverse()} />
      <p className="small muted">
        {list.length === 1 ? "One answer" : `The last ${count(list.length)} answers, newest at the right`}; the longest took {duration(Math.max(...list))}.
      </p>
    </section>
  );
}
