// The task graph of cleo, as graph, list or board.
import { lazy, Suspense, useEffect } from "react";
import { Button } from "../../parts/Button";
import { Icon } from "../../parts/Icon";
import { Menu } from "../../parts/Menu";
import { Ghost } from "../../parts/States";
import { Link } from "wouter";
import { navigate, withQuery } from "../../router/location";
import { Page } from "../../shell/Page";
import { Split } from "../../shell/Panel";
import { useKeys } from "../../shell/keys";
import { offer } from "../../shell/palette";
import { Unknown } from "../NotFound";
import { FilterMenu, openFilter } from "./FilterMenu";
import { useFilters, type ViewName } from "./filters";
import { List } from "./List";
import { clearMarks, startMarking, toggleMark, useMarks } from "./marks";
import { RunReady } from "./RunReady";
import { closeTask, select, useWalk } from "./walk";
import { WorkRail } from "./WorkRail";
import { useGraph } from "./graph/useGraph";
import "./work.css";

const BulkBar = lazy(() => import("./BulkBar"));
const Board = lazy(() => import("./Board"));
const GraphView = lazy(() => import("./graph/GraphView"));
const TaskPanel = lazy(() => import("./TaskPanel"));

const CRUMB = { label: "Work", href: "/work" };

export default function Work() {
  const filters = useFilters();
  const graph = useGraph(filters);
  const marking = useMarks((marks) => marks.on) && filters.view !== "graph";
  useEffect(() => clearMarks, []);
  const title = graph.data?.epic?.title ?? (filters.epic ? filters.epic : "All work");
  useWorkKeys(filters.task, marking, filters.view === "graph");
  useWorkCommands(filters.task);
  if (filters.epic && graph.failure?.absent) return <Unknown id={filters.epic} crumb={CRUMB} />;
  return (
    <Page
      title={title}
      id={graph.data?.epic?.id}
      crumbs={[CRUMB]}
      actions={
        <>
          <Views view={filters.view} />
          <FilterMenu filters={filters} groups={graph.data?.groups ?? []} />
          <RunReady epic={filters.epic} ready={graph.data?.counts.ready} />
        </>
      }
      rail={<WorkRail graph={graph.data} />}
    >
      <Split
        panel={
          filters.task ? (
            <Suspense fallback={<aside className="panel" />}>
              <TaskPanel key={filters.task} id={filters.task} tab={filters.tab} />
            </Suspense>
          ) : undefined
        }
      >
        <Suspense
          fallback={
            <div className="pane">
              <Ghost />
            </div>
          }
        >
          {filters.view === "graph" && <GraphView graph={graph} filters={filters} />}
          {filters.view === "list" && <List filters={filters} />}
          {filters.view === "board" && <Board filters={filters} />}
        </Suspense>
      </Split>
      {marking && (
        <Suspense fallback={null}>
          <BulkBar />
        </Suspense>
      )}
    </Page>
  );
}

const VIEWS: [ViewName, string][] = [
  ["graph", "Graph"],
  ["list", "List"],
  ["board", "Board"],
];

function Views({ view }: { view: ViewName }) {
  return (
    <>
      <nav className="segments desk-only" aria-label="View">
        {VIEWS.map(([name, label]) => (
          <Link key={name} href={withQuery({ view: name })} replace {...(name === view ? { "aria-current": "true" as const } : {})}>
            {label}
          </Link>
        ))}
      </nav>
      {view !== "graph" && (
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
          ...VIEWS.map(([name, label]) => ({ label, checked: name === view, onSelect: () => navigate(withQuery({ view: name }), { replace: true }) })),
          ...(view === "graph" ? [] : [null, { label: "Select tasks", onSelect: startMarking }]),
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
    { keys: "Space", does: "Look at the task that has the focus, and close it again", run: () => peek(task) },
    ...(inGraph ? [] : [{ keys: "X", does: "Select the task, with Shift and a click all up to one", run: () => mark(task) }]),
    { keys: "Mod+Enter", does: "Open the task as a page", run: () => task && navigate(`/work/${task}`) },
    { keys: "Escape", does: "Close the task", run: () => (marking ? clearMarks() : task && closeTask()) },
    { keys: "F", does: "Filter", run: openFilter },
  ]);
}

/** What the palette can do with the selected task. */
function useWorkCommands(task: string | null) {
  useEffect(() => {
    offer("work", task ? commandsFor(task) : []);
    return () => offer("work", []);
  }, [task]);
}

function commandsFor(task: string) {
  return [
    { label: `Open ${task} as a page`, cli: `cleo show ${task}`, run: () => navigate(`/work/${task}`) },
    { label: `Show the prompt of ${task}`, cli: `cleo spawn ${task}`, run: () => navigate(withQuery({ task, tab: "prompt" })) },
    { label: `Why ${task} gets its skill`, cli: `cleo skills dispatch ${task}`, run: () => navigate(withQuery({ task, tab: "receipt" })) },
    { label: `Evidence of ${task}`, cli: `cleo verify ${task}`, run: () => navigate(withQuery({ task, tab: "evidence" })) },
  ];
}
