import { path } from "../../api/request";
import { settled, useResource, type Resource } from "../../api/resource";
import { useAgents, useExecutions, useMetrics, glyphOf, Monogram, FINALIZE } from "../../agents/agents";
import type { Metrics, TaskStats, Agent, Execution } from "../../api/types";
import { count, duration, plural, percent, At } from "../../format";
import { Icon, type IconName } from "../../parts/Icon";
import { Ghost, Trouble, Empty, Loaded } from "../../parts/States";
import { useStatus } from "../../shell/places";
import { useKeys } from "../../shell/keys";
import { navigate, TextLink, Link } from "../../router";
import { Page } from "../../shell/Page";
import { StatusGlyph } from "../../parts/StatusGlyph";
import "./overview.css";

const NEW_AGENT = "/agents/manage?edit=1";
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

/** What to do first; a step is ticked once the store shows it. */
function FirstSteps({ agents, executions }: { agents: readonly Agent[]; executions: readonly Execution[] }) {
  const own = agents.filter((agent) => !agent.is_builtin);
  const reached = executions.some((one) => own.some((agent) => agent.id === one.delegatedTo));
  return (
    <section className="section" aria-labelledby="first-steps">
      <h2 id="first-steps">First steps</h2>
      <ol className="first-steps">
        <Step done={executions.length > 0} href="/agents/architecture" label="Run a message and see which agent it reaches" />
        <Step done={own.length > 0} href={NEW_AGENT} label="Create an agent with tags of your own" />
        <Step done={reached} href="/agents/architecture" label="Run a message that reaches it" />
      </ol>
    </section>
  );
}

function Step({ done, href, label }: { done: boolean; href: string; label: string }) {
  return (
    <li className="row">
      <StatusGlyph state={done ? "done" : "ready"} label={done ? "Done" : "Open"} />
      <TextLink href={href}>{label}</TextLink>
    </li>
  );
}

type Window = Metrics["dashboard"]["window"];

/** One bar for each of the last 24 hours, on one scale from 0; what failed is the red part at the foot. */
function HoursChart({ window: { hours, executions, failed } }: { window: Window }) {
  const most = Math.max(...hours.map((hour) => hour.executions), 1);
  const name = `${plural(executions, "execution")} in 24 hours, ${count(failed)} failed, at most ${count(most)} in an hour`;
  const high = (value: number) => (value === 0 ? 0 : Math.max(1, (38 * value) / most));
  return (
    <svg className="agent-hours" viewBox={`0 0 ${hours.length * 8} 40`} preserveAspectRatio="none" role="img" aria-label={name}>
      {hours.map((hour, at) => (
        <g key={hour.at}>
          <title>{`${hour.at.slice(11, 16)} UTC: ${plural(hour.executions, "execution")}, ${count(hour.failed)} failed`}</title>
          <rect className="none" x={at * 8 + 1} y="0" width="6" height="40" />
          <rect x={at * 8 + 1} y={40 - high(hour.executions)} width="6" height={high(hour.executions)} />
          <rect className="failed" x={at * 8 + 1} y={40 - high(hour.failed)} width="6" height={high(hour.failed)} />
        </g>
      ))}
    </svg>
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
        {stats && `${open(stats)} open, ${stats.overdue} overdue`}
      </Module>
    </ul>
  );
}

function open({ byStatus }: TaskStats): number {
  return byStatus.todo + byStatus.doing + byStatus.review + byStatus.paused;
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

const SHOWN = 12;

function Recent({ executions, of }: { executions: Resource<{ executions: Execution[]; total: number }>; of: (id: string | null) => Agent | undefined }) {
  return (
    <section className="agents-recent">
      <h2 className="agents-recent-title">Recent</h2>
      <Loaded of={executions}>
        {({ executions: list }) =>
          list.length === 0 ? (
            <Empty command="cleo agents execute 'Explain the Second War in Warcraft.'">No messages yet. Run one and see where it goes.</Empty>
          ) : (
            <ul>
              {list.slice(0, SHOWN).map((one) => (
                <li key={one.id}>
                  <Link className="agents-recent-row" href={`/agents/architecture?execution=${encodeURIComponent(one.id)}`}>
                    <At at={one.startTime} />
                    <StatusGlyph {...glyphOf(one)} verified={false} />
                    <span className="strong ell">{of(one.delegatedTo)?.name ?? one.delegatedTo ?? "finalize"}</span>
                    <span className="mono right">{one.routing.by === "requested" ? "asked" : one.routing.score}</span>
                    <span className="muted ell">{one.input}</span>
                  </Link>
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
    </section>
  );
}

/** Most rows; the architecture page has all. */
const MOST = 8;

/** Where messages went: one bar for each agent, on one scale from 0. */
function Went({ patterns, of }: { patterns: Metrics["dashboard"]["routingPatterns"]; of: (id: string) => Agent | undefined }) {
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
