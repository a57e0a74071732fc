import {
  Background,
  BackgroundVariant,
  BaseEdge,
  EdgeLabelRenderer,
  Handle,
  Panel,
  Position,
  ReactFlow,
  ReactFlowProvider,
  applyNodeChanges,
  getBezierPath,
  useReactFlow,
  useStore,
} from "@xyflow/react";
import type { Edge, EdgeProps, Node, NodeChange, NodeProps } from "@xyflow/react";
import { useCallback, useEffect, useMemo, useState, type KeyboardEvent, memo } from "react";
import { Button } from "../parts/Button";
import { AGENT_SIZE, SYSTEM_SIZE, type Picture, BELOW, type Line, type Spot } from "./graph";
import { StatusGlyph } from "../parts/StatusGlyph";
import { Monogram } from "./agents";
import { keep, read } from "../shell/settings";
import "@xyflow/react/dist/base.css";
import "./graph.css";

interface Props {
  picture: Picture;
  selected: string | null;
  onSelect: (id: string | null) => void;
  onOpen: (id: string) => void;
}

const FLOOR = { width: 8, height: 1 };
const FIT = { padding: 0.06, maxZoom: 1, minZoom: 0.4 };

export default function AgentGraph(props: Props) {
  return (
    <ReactFlowProvider>
      <Flow {...props} />
    </ReactFlowProvider>
  );
}

function Flow({ picture, selected, onSelect, onOpen }: Props) {
  const [moved, setMoved] = useState(kept);
  const put = useCallback((places: Record<string, Place>) => {
    const rounded = Object.entries(places).map(([id, { x, y }]) => [id, { x: Math.round(x), y: Math.round(y) }]);
    const all = { ...kept(), ...Object.fromEntries(rounded) };
    keep(KEY, JSON.stringify(all));
    setMoved(all);
  }, []);
  const nodes = useNodes(picture, moved, selected, { onSelect, onMoved: put });
  const edges = useMemo<LineEdge[]>(() => picture.lines.map(edge), [picture]);
  const flow = useReactFlow();
  const count = picture.spots.length;
  // A page that still waits for data hides the picture: what is fitted into no size shows no box.
  const hasSize = useStore(({ width, height }) => width > 0 && height > 0);
  useEffect(() => {
    if (!hasSize) return;
    const frame = requestAnimationFrame(() => void flow.fitView(FIT));
    return () => cancelAnimationFrame(frame);
  }, [count, hasSize, flow]);
  const reset = () => {
    keep(KEY, null);
    setMoved({});
    requestAnimationFrame(() => void flow.fitView(FIT));
  };
  return (
    <ReactFlow
      nodes={nodes.list}
      edges={edges}
      nodeTypes={nodeTypes}
      edgeTypes={edgeTypes}
      onNodesChange={nodes.change}
      onKeyDown={(event) => opens(event, onOpen)}
      onNodeDoubleClick={(_, node) => onOpen(node.id)}
      onPaneClick={() => onSelect(null)}
      fitView
      fitViewOptions={FIT}
      minZoom={0.1}
      maxZoom={2}
      onlyRenderVisibleElements
      nodesConnectable={false}
      edgesFocusable={false}
      deleteKeyCode={null}
      selectionKeyCode={null}
      multiSelectionKeyCode={null}
      zoomOnDoubleClick={false}
      preventScrolling={false}
      zoomOnScroll={false}
      panOnScroll={false}
      proOptions={{ hideAttribution: true }}
      aria-label="How messages reach agents"
    >
      <Background variant={BackgroundVariant.Dots} gap={24} size={1} />
      <Panel position="bottom-left" className="glass agent-graph-tools">
        <Button small look="ghost" icon="minus" aria-label="Zoom out" onClick={() => void flow.zoomOut()} />
        <Button small look="ghost" icon="plus" aria-label="Zoom in" onClick={() => void flow.zoomIn()} />
        <Button small look="ghost" icon="fit" aria-label="Fit" onClick={() => void flow.fitView(FIT)} />
        <Button small look="ghost" onClick={reset} disabled={Object.keys(moved).length === 0}>
          Reset layout
        </Button>
      </Panel>
    </ReactFlow>
  );
}

/** Enter on a box opens what stands behind it. */
function opens(event: KeyboardEvent, onOpen: (id: string) => void) {
  const id = event.target instanceof Element ? event.target.closest<HTMLElement>(".react-flow__node.agent")?.dataset["id"] : undefined;
  if (event.key === "Enter" && id !== undefined) onOpen(id);
}

interface Doings {
  onSelect: (id: string | null) => void;
  /** Boxes that were put elsewhere, by dragging or with the arrow keys. */
  onMoved: (places: Record<string, Place>) => void;
}

/** The nodes with where the user put them; while one is dragged, where it is. */
function useNodes(picture: Picture, moved: Record<string, Place>, selected: string | null, { onSelect, onMoved }: Doings) {
  const [dragged, setDragged] = useState<SpotNode[] | null>(null);
  const still = useMemo<SpotNode[]>(
    () =>
      picture.spots.map((spot) => ({
        id: spot.id,
        type: "spot",
        position: moved[spot.id] ?? { x: spot.x, y: spot.y },
        ...(spot.kind === "floor" ? FLOOR : spot.kind === "system" ? SYSTEM_SIZE : AGENT_SIZE),
        ...(spot.kind === "floor" ? { focusable: false, selectable: false, draggable: false } : {}),
        data: { spot },
        ...(spot.kind === "system" || spot.kind === "floor" ? {} : { className: "agent" }),
        selected: spot.id === selected,
        ariaRole: "group" as const,
        domAttributes: { "aria-roledescription": spot.kind === "agent" ? "agent" : "step", "aria-label": `${spot.label}, ${spot.about}`, ...(spot.kind === "floor" ? { "aria-hidden": true } : {}) },
      })),
    [picture, moved, selected],
  );
  const change = useCallback(
    (changes: NodeChange<SpotNode>[]) => {
      const chosen = changes.find((one) => one.type === "select" && one.selected);
      if (chosen?.type === "select") onSelect(chosen.id);
      const places = changes.filter((one) => one.type === "position");
      if (places.length === 0) return;
      const isOver = places.every((one) => one.dragging !== true);
      setDragged((now) => (isOver ? null : applyNodeChanges(places, now ?? still)));
      if (isOver) onMoved(Object.fromEntries(places.flatMap((one) => (one.position ? [[one.id, one.position]] : []))));
    },
    [still, onSelect, onMoved],
  );
  return { list: dragged ?? still, change };
}

function edge(line: Picture["lines"][number]): LineEdge {
  const bypass = line.kind === "bypass";
  return {
    id: line.id,
    type: "line",
    source: line.from,
    target: line.to,
    ...(bypass ? { sourceHandle: "below", targetHandle: "below" } : { sourceHandle: "out", targetHandle: "in" }),
    data: { line },
    zIndex: line.live || line.hit ? 1 : 0,
  };
}

type SpotNode = Node<{ spot: Spot }, "spot">;
type LineEdge = Edge<{ line: Line }, "line">;

/** One box: the supervisor, the router, an agent or finalize. */
const AgentNode = memo(function AgentNode({ data, selected }: NodeProps<SpotNode>) {
  const { spot } = data;
  if (spot.kind === "floor") return null;
  const looks = ["agent-node", spot.kind, spot.off && "off", spot.hit && "hit", spot.live && "working", selected && "selected"];
  return (
    <div className={looks.filter(Boolean).join(" ")}>
      <div className="name">
        {spot.agent && <Monogram agent={spot.agent} />}
        <span className="ell">{spot.label}</span>
        {spot.live && spot.kind === "agent" && <StatusGlyph state="running" label="answers now" />}
      </div>
      <div className="about ell">{spot.about}</div>
      <Handle id="in" type="target" position={Position.Left} isConnectable={false} />
      <Handle id="out" type="source" position={Position.Right} isConnectable={false} />
      {spot.kind === "system" && <Handle id="below" type={spot.id === "finalize" ? "target" : "source"} position={Position.Bottom} isConnectable={false} />}
    </div>
  );
});

/** A line between two boxes, with the points of the message that is typed. */
const FlowEdge = memo(function FlowEdge(props: EdgeProps<LineEdge>) {
  const line = props.data?.line;
  if (!line) return null;
  const looks = ["agent-line", line.kind, line.hit && "hit", line.live && "moving"].filter(Boolean).join(" ");
  const way = line.kind === "bypass" ? around(props) : getBezierPath(props)[0];
  return (
    <>
      <BaseEdge path={way} className={looks} />
      <EdgeLabelRenderer>
        {line.kind === "bypass" ? (
          <Mark x={(props.sourceX + props.targetX) / 2} y={lowest(props)} hit={line.hit}>
            no match
          </Mark>
        ) : (
          line.score !== null && (
            <Mark x={props.targetX - 24} y={props.targetY} hit={line.hit}>
              {line.score}
            </Mark>
          )
        )}
      </EdgeLabelRenderer>
    </>
  );
});

function Mark({ x, y, hit, children }: { x: number; y: number; hit: boolean; children: React.ReactNode }) {
  return (
    <span className={hit ? "agent-score hit" : "agent-score"} style={{ transform: `translate(-50%, -50%) translate(${x}px, ${y}px)` }}>
      {children}
    </span>
  );
}

type Ends = Pick<EdgeProps, "sourceX" | "sourceY" | "targetX" | "targetY"> & { data?: { line: Line } };

/** From under the router, below all agents, to under finalize. */
function around(ends: Ends): string {
  const y = lowest(ends);
  return `M${ends.sourceX} ${ends.sourceY}V${y}H${ends.targetX}V${ends.targetY}`;
}

function lowest({ sourceY, targetY, data }: Ends): number {
  return Math.max(sourceY, targetY, data?.line.floor ?? 0) + BELOW;
}

interface Place {
  x: number;
  y: number;
}

const KEY = "agents.positions";

function kept(): Record<string, Place> {
  try {
    return JSON.parse(read(KEY) ?? "{}") as Record<string, Place>;
  } catch {
    return {};
  }
}

// Outside of the component: another object would make every node anew.
const nodeTypes = { spot: AgentNode };
const edgeTypes = { line: FlowEdge };
