// The whole graph small, with the part that is seen framed. Click or drag to go there.
import { Panel, useReactFlow, useStore } from "@xyflow/react";
import { memo, useRef, type PointerEvent } from "react";
import type { Graph } from "../../../api/work";
import { colourOf } from "./colours";

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
