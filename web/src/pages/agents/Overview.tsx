import { path } from "../../api/request";
import { settled, useResource, type Resource } from "../../api/resource";
import { useAgents, useExecutions, useMetrics } from "../../agents/agents";
import { Executions } from "../../agents/Executions";
import type { Metrics, TaskStats, Agent, Execution } from "../../api/types";
import { plural } from "../../format";
import { Icon, type IconName } from "../../parts/Icon";
import { Ghost, Trouble } from "../../parts/States";
import { useStatus } from "../../shell/places";
import { useKeys } from "../../shell/keys";
import { navigate, TextLink, Link } from "../../router";
import { Page } from "../../shell/Page";
import { StatusGlyph } from "../../parts/StatusGlyph";
import "./overview.css";

const NEW_AGENT = "/agents/manage?edit=1";
/** How many of the last executions are listed. */
const LISTED = 12;

export default function Overview() {
  const { resource, agents, name } = useAgents();
  const metrics = useMetrics();
  const executions = useExecutions(LISTED);
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
            {resource.data && total !== undefined ? `${plural(agents.length, "agent")}, ${plural(metrics.data?.dashboard.totalExecutions ?? 0, "execution")}` : " "}
          </p>
          <p className="muted">Messages go to the agent whose words and tags they name. Every route keeps its reasons.</p>
        </header>
        {!isThere && <Ghost rows={8} />}
        <div className="agents-overview-main" hidden={!isThere}>
          {total === 0 && <FirstSteps agents={agents} executions={executions.data?.executions ?? []} />}
          <Modules agents={agents} loaded={resource} metrics={metrics.data} conversations={talks.data?.total} stats={stats.data?.stats} />
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
        </div>
        <aside className="agents-overview-side" aria-label="Recent activity" hidden={!isThere}>
          <h2 className="agents-recent-title">Recent</h2>
          <Executions executions={executions} name={name} />
        </aside>
      </div>
    </Page>
  );
}

/** What to do first; a step is ticked once the store shows it. */
function FirstSteps({ agents, executions }: { agents: readonly Agent[]; executions: readonly Execution[] }) {
  const own = agents.filter((agent) => !agent.is_builtin);
  const reached = executions.some((one) => own.some((agent) => agent.id === one.delegatedTo));
  const steps = [
    [executions.length > 0, "/agents/architecture", "Run a message and see which agent it reaches"],
    [own.length > 0, NEW_AGENT, "Create an agent with tags of your own"],
    [reached, "/agents/architecture", "Run a message that reaches it"],
  ] as const;
  return (
    <section className="section" aria-labelledby="first-steps">
      <h2 id="first-steps">First steps</h2>
      <ol className="first-steps">
        {steps.map(([done, href, label]) => (
          <li key={label} className="row">
            <StatusGlyph state={done ? "done" : "ready"} label={done ? "Done" : "Open"} />
            <TextLink href={href}>{label}</TextLink>
          </li>
        ))}
      </ol>
    </section>
  );
}

interface ModulesProps {
  agents: readonly Agent[];
  loaded: Resource<unknown>;
  metrics: Metrics | undefined;
  conversations: number | undefined;
  stats: TaskStats | undefined;
}

/** The four pages of agents, each with one number of its own. */
function Modules({ agents, loaded, metrics, conversations, stats }: ModulesProps) {
  const atWork = useStatus()?.counts.atWork;
  if (loaded.failure && !loaded.data) return <Trouble failure={loaded.failure} retry={loaded.reload} />;
  const paused = agents.filter((agent) => agent.status === "paused").length;
  const known = loaded.data !== undefined;
  return (
    <ul className="agents-modules">
      <Module href="/agents/architecture" icon="architecture" title="Architecture" about="See where a message goes and why, run it, watch each step">
        {metrics && atWork !== undefined && `${metrics.dashboard.activeAgents} active, ${atWork} at work`}
      </Module>
      <Module href="/agents/manage" icon="manage" title="Manage" about="Create, edit, pause; try tags against real messages">
        {known && `${plural(agents.length, "agent")}, ${paused} paused`}
      </Module>
      <Module href="/agents/chat" icon="chat" title="Chat" about="Talk to one agent, or have each message routed">
        {conversations !== undefined && plural(conversations, "conversation")}
      </Module>
      <Module href="/agents/tasks" icon="board" title="Tasks" about="Assign work to agents and follow it to done">
        {stats && `${stats.total - stats.byStatus.done - stats.byStatus.cancelled} open, ${stats.overdue} overdue`}
      </Module>
    </ul>
  );
}

function Module(props: { href: string; icon: IconName; title: string; about: string; children: React.ReactNode }) {
  return (
    <li>
      <Link href={props.href} className="agents-module">
        <Icon name={props.icon} />
        <span className="what">
          <span className="strong">{props.title}</span>
          <span className="muted ell">{props.about}</span>
        </span>
        <span className="figure">{props.children || <span className="muted">–</span>}</span>
        <Icon name="right" />
      </Link>
    </li>
  );
}
