import "@xyflow/react/dist/base.css";
import { Background, BackgroundVariant, Panel, ReactFlow, ReactFlowProvider, applyNodeChanges, useReactFlow, useStore, type NodeChange } from "@xyflow/react";
import { useCallback, useEffect, useMemo, useState, type KeyboardEvent } from "react";
import { Button } from "../parts/Button";
import { AgentNode, FlowEdge, type SpotNode, type LineEdge } from "./AgentNode";
import { AGENT_SIZE, SYSTEM_SIZE, type Picture } from "./graph";
import { forget, keep, kept, type Position } from "./positions";
import "./graph.css";

interface Props {
  picture: Picture;
  selected: string | null;
  onSelect: (id: string | null) => void;
  onOpen: (id: string) => void;
}

// Outside of the component: another object would make every node anew.
const nodeTypes = { spot: AgentNode };
const edgeTypes = { line: FlowEdge };
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
  const put = useCallback((places: Record<string, Position>) => {
    for (const [id, position] of Object.entries(places)) keep(id, position);
    setMoved(kept());
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
    forget();
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
  onMoved: (places: Record<string, Position>) => void;
}

/** The nodes with where the user put them; while one is dragged, where it is. */
function useNodes(picture: Picture, moved: Record<string, Position>, selected: string | null, { onSelect, onMoved }: Doings) {
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
