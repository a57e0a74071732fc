import { type NodeProps, Panel, useReactFlow, useStore } from "@xyflow/react";
import { memo, useRef, type PointerEvent } from "react";
import type { GraphNode, Stack, Graph } from "../../../api/types";
import { GateMeter, STATE_WORDS, type State, StatusGlyph, colourOf } from "../../../parts/StatusGlyph";
import { navigate, withQuery, Link } from "../../../router";
import { noteOf } from "../rows";

interface TaskData {
  task: GraphNode;
  selected: boolean;
  tabbed: boolean;
}

/** A task as a card: state, title, id, who works on it, gates when one was tried. */
export const TaskNode = memo(function TaskNode({ data }: NodeProps) {
  const { task, selected, tabbed } = data as unknown as TaskData;
  const note = noteOf(task);
  const tried = task.gates?.some((gate) => gate === "passed" || gate === "failed" || gate === "forced");
  const waits = task.waitsFor.length > 0 ? `, waits for ${task.waitsFor.join(", ")}` : "";
  return (
    <Link
      href={withQuery({ task: task.id })}
      className={`task-node ${task.state}${selected ? " selected" : ""}${task.wave === null ? " stuck" : ""}`}
      id={`node-${task.id}`}
      data-task={task.id}
      tabIndex={tabbed ? 0 : -1}
      draggable={false}
      aria-roledescription="task"
      aria-current={selected ? "true" : undefined}
      onDoubleClick={() => navigate(`/work/${task.id}`)}
    >
      <span className="head">
        <StatusGlyph state={task.state} verified={task.verified} label="" still={!task.live} />
        <span className="ell" title={task.title}>
          {task.title}
        </span>
      </span>
      <span className="foot-line">
        <span className="mono">{task.id}</span>
        <span className="ell grow">{note}</span>
        {tried && task.gates && <GateMeter gates={task.gates} />}
      </span>
      <span className="unseen">
        {STATE_WORDS[task.state]}
        {waits}
      </span>
    </Link>
  );
});

const LOUDEST: State[] = ["failed", "needsYou", "running", "ready", "waiting", "done"];

/** Tasks that were folded away together. Opening it unfolds them. */
export const StackNode = memo(function StackNode({ data }: NodeProps) {
  const { stack } = data as unknown as { stack: Stack };
  const state = LOUDEST.find((one) => (stack.counts[one] ?? 0) > 0) ?? "done";
  const words = stack.title ?? stack.label.replace(/^\d+\s*/, "");
  return (
    <Link className="stack-node" href={unfolded(stack.key)} replace draggable={false} aria-label={`${stack.total} ${words}, unfold`}>
      <span className="row tight strong">
        <StatusGlyph state={state} label="" still />
        {stack.total}
      </span>
      <span className="muted ell">{words}</span>
    </Link>
  );
});

function unfolded(key: string) {
  const now = new URLSearchParams(window.location.search).get("unfold");
  const keys = new Set((now ?? "").split(",").filter(Boolean));
  return withQuery({ unfold: [...keys.add(key)].join(",") });
}

const WIDTH = 152;
const HEIGHT = 84;

export const Overview = memo(function Overview({ graph }: { graph: Graph }) {
  const { setCenter, getZoom } = useReactFlow();
  const svg = useRef<SVGSVGElement>(null);
  const { width, height } = graph.size;
  const scale = Math.min(WIDTH / Math.max(width, 1), HEIGHT / Math.max(height, 1));
  if (scale > 0.25) return null;
  function go(event: PointerEvent) {
    if (event.buttons !== 1 || !svg.current) return;
    const box = svg.current.getBoundingClientRect();
    void setCenter((event.clientX - box.left) / scale, (event.clientY - box.top) / scale, { zoom: getZoom() });
  }
  return (
    <Panel position="bottom-right" className="overview glass desk-only">
      <svg ref={svg} width={width * scale} height={height * scale} viewBox={`0 0 ${width} ${height}`} aria-hidden="true" onPointerDown={go} onPointerMove={go}>
        <Blocks graph={graph} />
        <Frame scale={scale} />
      </svg>
    </Panel>
  );
});

/** One path a colour, however many tasks there are. */
const Blocks = memo(function Blocks({ graph }: { graph: Graph }) {
  const paths = new Map<string, string>();
  for (const node of graph.nodes) {
    const colour = colourOf(node);
    paths.set(colour, (paths.get(colour) ?? "") + `M${node.x} ${node.y}h${node.width}v${node.height}h-${node.width}z`);
  }
  const stacks = graph.stacks.map((stack) => `M${stack.x} ${stack.y}h${stack.width}v${stack.height}h-${stack.width}z`).join("");
  return (
    <>
      {[...paths].map(([colour, d]) => (
        <path key={colour} d={d} fill={colour} />
      ))}
      <path d={stacks} fill="var(--n8)" />
    </>
  );
});

function Frame({ scale }: { scale: number }) {
  const [x, y, zoom] = useStore((state) => state.transform);
  const width = useStore((state) => state.width);
  const height = useStore((state) => state.height);
  return <rect x={-x / zoom} y={-y / zoom} width={width / zoom} height={height / zoom} rx={3 / scale} fill="none" stroke="var(--n12)" strokeWidth={1.25 / scale} />;
}
