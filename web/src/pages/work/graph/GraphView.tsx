// The drawn graph: the server's coordinates, xyflow for moving about in them.
import { ReactFlow, ReactFlowProvider, useReactFlow, type Node, useStore, ViewportPortal } from "@xyflow/react";
import { useCallback, useEffect, useMemo, useState } from "react";
import type { Resource } from "../../../api/resource";
import type { Box, Graph, Lane } from "../../../api/types";
import { Loaded, sentence } from "../../../parts/States";
import type { State } from "../../../parts/StatusGlyph";
import { usePlace, withQuery, Link } from "../../../router";
import type { Filters } from "../filters";
import { NoTasks } from "../rows";
import { closeTask, seeTasks, select } from "../selection";
import { Edges } from "./Edges";
import { StackNode, TaskNode, Overview } from "./Nodes";
import { Toolbar, focusOf, useGraphKeys, useZoomLevel, ZOOM } from "./controls";
import { useKin } from "./kin";
import "@xyflow/react/dist/base.css";
import "./graph.css";

const TYPES = { task: TaskNode, stack: StackNode };

export default function GraphView({ graph, filters }: { graph: Resource<Graph>; filters: Filters }) {
  const { data } = graph;
  if (!data || data.counts.total === 0)
    return (
      <div className="pane">
        <Loaded of={graph} rows={10}>
          {() => <NoTasks />}
        </Loaded>
      </div>
    );
  return (
    <div className="pane graph-pane">
      {data.problems.map((problem) => (
        <p key={problem.message} className="notice">
          {sentence(problem.message)} {problem.fix && <code>{problem.fix}</code>}
        </p>
      ))}
      <ReactFlowProvider>
        <Canvas graph={data} selected={filters.task} />
      </ReactFlowProvider>
    </div>
  );
}

function Canvas({ graph, selected }: { graph: Graph; selected: string | null }) {
  const { query } = usePlace();
  const critical = query.get("critical") !== "off";
  const kin = useKin(graph, selected);
  const nodes = useMemo(() => flowNodes(graph, selected, kin), [graph, selected, kin]);
  const level = useZoomLevel();
  useEffect(() => seeTasks(graph.nodes), [graph.nodes]);
  useGraphKeys(graph, selected);
  useReveal(graph, selected);
  const [begin] = useState(() => firstView(graph));
  const choose = useCallback((_: unknown, node: Node) => {
    if (node.type === "task") select(node.id);
  }, []);
  return (
    <div className={kin ? `canvas zoom-${level} among-kin` : `canvas zoom-${level}`}>
      <ReactFlow
        nodes={nodes}
        nodeTypes={TYPES}
        defaultViewport={begin}
        minZoom={ZOOM.least}
        maxZoom={ZOOM.most}
        onlyRenderVisibleElements
        nodesDraggable={false}
        nodesConnectable={false}
        nodesFocusable={false}
        elementsSelectable={false}
        disableKeyboardA11y
        deleteKeyCode={null}
        selectionKeyCode={null}
        multiSelectionKeyCode={null}
        panActivationKeyCode={null}
        zoomActivationKeyCode="Control"
        panOnScroll
        zoomOnDoubleClick={false}
        preventScrolling
        proOptions={{ hideAttribution: true }}
        onNodeClick={choose}
        onPaneClick={() => selected && closeTask()}
        aria-label="Tasks by wave"
      >
        <ViewportPortal>
          <div className="lanes" aria-hidden="true">
            {graph.lanes.map((lane) => (
              <i key={lane.key} style={{ left: lane.x, width: lane.width }} />
            ))}
          </div>
        </ViewportPortal>
        <Edges graph={graph} selected={selected} kin={kin} critical={critical} />
        <Overview graph={graph} />
      </ReactFlow>
      <LaneHeads graph={graph} />
      <Toolbar graph={graph} critical={critical} />
    </div>
  );
}

const FRONTIER = new Set<State>(["running", "verifying", "ready"]);

/** 100 %, with the first wave that has ready or running tasks near the left. */
function firstView(graph: Graph) {
  const alive = graph.nodes.filter((node) => FRONTIER.has(node.state)).map((node) => node.x);
  const first = Math.min(...alive, Number.POSITIVE_INFINITY);
  const x = Number.isFinite(first) && first > 480 ? 120 - first : 0;
  return { x, y: 0, zoom: 1 };
}

/** Moves only when the selected task is outside of what is seen. */
function useReveal(graph: Graph, selected: string | null) {
  const { getViewport, setCenter, getZoom } = useReactFlow();
  useEffect(() => {
    const node = graph.nodes.find((one) => one.id === selected);
    const canvas = document.querySelector(".graph-pane .canvas");
    if (!node || !canvas) return;
    const { x, y, zoom } = getViewport();
    const left = node.x * zoom + x;
    const top = node.y * zoom + y;
    const inside = left >= 0 && top >= 32 && left + node.width * zoom <= canvas.clientWidth && top + node.height * zoom <= canvas.clientHeight;
    if (!inside) void setCenter(node.x + node.width / 2, node.y + node.height / 2, { zoom: getZoom(), duration: 160 });
  }, [selected, graph.nodes, getViewport, getZoom, setCenter]);
}

function flowNodes(graph: Graph, selected: string | null, kin: ReadonlySet<string> | null): Node[] {
  // A selected task that is folded away or not of this graph has no card to tab to.
  const tabbed = (graph.nodes.find((task) => task.id === selected) ?? focusOf(graph))?.id;
  // Place and size are known, and there are no handles: nothing has to be mounted to be measured.
  const node = (type: string, id: string, key: string, { x, y, width, height }: Box, data: Record<string, unknown>): Node => ({
    id,
    type,
    position: { x, y },
    width,
    height,
    measured: { width, height },
    handles: [],
    className: kin && !kin.has(key) ? "dimmed" : "",
    data,
  });
  return [
    ...graph.nodes.map((task) => node("task", task.id, task.id, task, { task, selected: task.id === selected, tabbed: task.id === tabbed })),
    ...graph.stacks.map((stack) => node("stack", `stack ${stack.key}`, stack.key, stack, { stack })),
  ];
}

function LaneHeads({ graph }: { graph: Graph }) {
  const x = useStore((state) => state.transform[0]);
  const zoom = useStore((state) => state.transform[2]);
  const width = useStore((state) => state.width);
  return (
    <div className="lane-heads">
      {graph.lanes
        .filter((lane) => lane.x * zoom + x < width && (lane.x + lane.width) * zoom + x > 0)
        .map((lane) => (
          <Head key={lane.key} lane={lane} left={lane.x * zoom + x} width={lane.width * zoom} />
        ))}
    </div>
  );
}

function Head({ lane, left, width }: { lane: Lane; left: number; width: number }) {
  const name = lane.key === "stuck" ? "In a circle" : lane.from === lane.to ? `Wave ${lane.from}` : `Waves ${lane.from}–${lane.to}`;
  const words = (
    <>
      {width > 60 ? name : lane.from}
      {width > 180 && <span>{lane.label}</span>}
    </>
  );
  return (
    <h2 style={{ transform: `translateX(${left}px)`, width }} title={lane.label}>
      {lane.folded ? (
        <Link href={withQuery({ unfold: lane.key })} replace title={`Unfold: ${lane.label}`}>
          {words}
        </Link>
      ) : (
        words
      )}
    </h2>
  );
}
