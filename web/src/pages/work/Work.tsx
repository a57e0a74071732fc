// The task graph of cleo, as graph or list; the board is that of all tasks.
import { useEffect } from "react";
import { Button } from "../../parts/Button";
import { Icon } from "../../parts/Icon";
import { Menu } from "../../parts/Menu";
import { Ghost } from "../../parts/States";
import { navigate, usePlace, withQuery, Link } from "../../router";
import { Page, Split, Unknown } from "../../shell/Page";
import { useKeys } from "../../shell/keys";
import { useCommands, useStatus } from "../../shell/places";
import { useFilters, type ViewName, useGraph } from "./filters";
import { clearMarks, startMarking, toggleMark, useMarks, closeTask, select, useWalk } from "./selection";
import { Fact, Rail } from "../../parts/Facts";
import { plural, roughly } from "../../format";
import type { Graph } from "../../api/types";
import { type State, STATES, STATE_WORDS } from "../../parts/StatusGlyph";
import { Filters } from "../../parts/Filters";
import { later } from "../../parts/later";
import { RunReady } from "./RunReady";
import { useEpics } from "../agents-tasks/useTasks";
import "./work.css";

const BulkBar = later(() => import("./BulkBar"));
const WAIT = (
  <div className="pane">
    <Ghost />
  </div>
);
const Epics = later(() => import("./Epics"), WAIT);
const List = later(() => import("./List"), WAIT);
const GraphView = later(() => import("./graph/GraphView"), WAIT);
const TaskPanel = later(() => import("./TaskPanel"), <aside className="panel" />);

const CRUMB = { label: "Work", href: "/work" };

export default function Work() {
  const filters = useFilters();
  const graph = useGraph(filters);
  const epics = useEpics(true);
  const marking = useMarks((marks) => marks.on) && filters.view === "list";
  useEffect(() => clearMarks, []);
  const isBoard = usePlace().query.get("view") === "board";
  useEffect(() => {
    if (isBoard) navigate(BOARD, { replace: true });
  }, [isBoard]);
  const title = graph.data?.epic?.title ?? (filters.epic ? filters.epic : "All work");
  useWorkKeys(filters.task, marking, filters.view === "graph");
  useCommands("work", filters.task ? commandsFor(filters.task) : []);
  if (filters.epic && graph.failure?.absent) return <Unknown id={filters.epic} crumb={CRUMB} />;
  return (
    <Page
      title={title}
      id={graph.data?.epic?.id}
      crumbs={[CRUMB]}
      actions={
        <>
          <Views view={filters.view} />
          <RunReady epic={filters.epic} ready={graph.data?.counts.ready} />
        </>
      }
      rail={
        <div className="head-bars">
          <WorkRail graph={graph.data} />
          <Filters
            what="task"
            filters={[
              { several: true, name: "status", label: "Status", values: STATES.map((value) => ({ value, label: STATE_WORDS[value] })) },
              { name: "epic", label: "Epic", values: (epics.data?.groups ?? []).map(({ id, title }) => ({ value: id, label: title })) },
            ]}
          />
        </div>
      }
    >
      <Split panel={filters.task && <TaskPanel key={filters.task} id={filters.task} />}>
        {filters.view === "graph" && <GraphView graph={graph} filters={filters} />}
        {filters.view === "list" && <List filters={filters} />}
        {filters.view === "epics" && <Epics graph={graph} />}
      </Split>
      {marking && <BulkBar />}
    </Page>
  );
}

const BOARD = "/agents/tasks";
const VIEWS: [ViewName, string][] = [
  ["graph", "Graph"],
  ["list", "List"],
  ["epics", "Epics"],
];

/** The graph draws every task of an epic: what filters them leads to the list. */
function viewed(view: ViewName) {
  return withQuery({ view, ...(view === "graph" && { status: null, q: null }) });
}

function Views({ view }: { view: ViewName }) {
  return (
    <>
      <nav className="segments desk-only" aria-label="View">
        {VIEWS.map(([name, label]) => (
          <Link key={name} href={viewed(name)} replace aria-current={name === view ? "true" : undefined}>
            {label}
          </Link>
        ))}
        <Link href={BOARD}>Board</Link>
      </nav>
      {view === "list" && (
        <Button look="ghost" className="desk-only" icon="check" shortcut="X" onClick={startMarking}>
          Select
        </Button>
      )}
      <Menu
        label="View"
        trigger={
          <Button className="phone-only">
            {VIEWS.find(([name]) => name === view)?.[1]}
            <Icon name="down" />
          </Button>
        }
        entries={[
          ...VIEWS.map(([name, label]) => ({ label, checked: name === view, onSelect: () => navigate(viewed(name), { replace: true }) })),
          { label: "Board", onSelect: () => navigate(BOARD) },
          ...(view !== "list" ? [] : [null, { label: "Select tasks", onSelect: startMarking }]),
        ]}
      />
    </>
  );
}

/** The task that has the focus, else the one that is open. */
function here(open: string | null): string | null {
  return document.activeElement?.closest("[data-task]")?.getAttribute("data-task") ?? open;
}

function peek(open: string | null) {
  const task = here(open);
  if (task && task !== open) select(task);
  else if (open) closeTask();
}

function mark(open: string | null) {
  const task = here(open);
  if (task) toggleMark(task);
  else startMarking();
}

function useWorkKeys(task: string | null, marking: boolean, inGraph: boolean) {
  const walk = useWalk();
  useKeys("Work", [
    // In the graph, arrows follow its lines.
    { keys: inGraph ? "J" : "J|ArrowDown", does: "Next task", run: () => walk.step(1) },
    { keys: inGraph ? "K" : "K|ArrowUp", does: "Task before", run: () => walk.step(-1) },
    { keys: "N", does: "Next ready task", run: () => walk.next("ready") },
    { keys: "Shift+N", does: "Next failed task", run: () => walk.next("failed") },
    { keys: "Space", does: "Toggle the preview of the focused task", run: () => peek(task) },
    ...(inGraph ? [] : [{ keys: "X", does: "Select the task, with Shift and a click all up to one", run: () => mark(task) }]),
    { keys: "Mod+Enter", does: "Open the task as a page", run: () => task && navigate(`/work/${task}`) },
    { keys: "Escape", does: "Close the task", run: () => (marking ? clearMarks() : task && closeTask()) },
  ]);
}

/** What the palette can do with the selected task. */
function commandsFor(task: string) {
  return [
    { label: `Open ${task} as a page`, cli: `cleo show ${task}`, run: () => navigate(`/work/${task}`) },
    { label: `Show the prompt of ${task}`, cli: `cleo spawn ${task}`, run: () => navigate(withQuery({ task, tab: "prompt" })) },
    { label: `Why ${task} gets its skill`, cli: `cleo skills dispatch ${task}`, run: () => navigate(withQuery({ task, tab: "receipt" })) },
    { label: `Evidence of ${task}`, cli: `cleo verify ${task}`, run: () => navigate(withQuery({ task, tab: "evidence" })) },
  ];
}

const SHOWN: [State, string][] = [
  ["running", STATE_WORDS.running],
  ["verifying", "Verifying"],
  ["failed", "Failed"],
  ["needsYou", "Needs you"],
  ["ready", "Ready"],
  ["waiting", "Waiting"],
];

/** Counts of the graph; a state that no task has takes no place, but for those a person looks for. */
function WorkRail({ graph }: { graph: Graph | undefined }) {
  const counts = graph?.counts;
  const atWork = useStatus()?.counts?.atWork;
  const always = new Set<State>(["running", "ready", "waiting"]);
  return (
    <Rail>
      <Fact
        label="Done, verified"
        value={counts?.verified}
        unit={counts && `of ${counts.total}`}
        href={withQuery({ status: "done", view: "list" })}
        title={counts && `${counts.done} done, ${counts.verified} of them checked by cleo`}
      />
      {!graph?.epic && <Fact label="At work" value={atWork} glyph={atWork ? "running" : undefined} href="/" title="Attempts of runs, executions, and claims outside of runs" />}
      {SHOWN.filter(([state]) => always.has(state) || (counts?.[state] ?? 0) > 0).map(([state, label]) => (
        <Fact key={state} label={label} glyph={state !== "running" || (counts?.running ?? 0) > 0 ? state : undefined} value={counts?.[state]} href={withQuery({ status: state, view: "list" })} />
      ))}
      <Critical graph={graph} />
    </Rail>
  );
}

function Critical({ graph }: { graph: Graph | undefined }) {
  const path = graph?.criticalPath;
  if (!path || path.left === 0) return null;
  const first = path.tasks.slice(0, 4).join(", ") + (path.tasks.length > 4 ? ` and ${path.tasks.length - 4} more` : "");
  const about = path.aboutMs === null ? undefined : `about ${roughly(path.aboutMs)}, from the median of ${plural(path.samples, "finished attempt")}`;
  return <Fact wide label={`Critical path: ${first}`} value={`${path.left} left`} unit={about} />;
}
