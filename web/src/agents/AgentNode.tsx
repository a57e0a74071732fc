import { BaseEdge, EdgeLabelRenderer, Handle, Position, getBezierPath, type Edge, type EdgeProps, type Node, type NodeProps } from "@xyflow/react";
import { memo } from "react";
import { StatusGlyph } from "../parts/StatusGlyph";
import { BELOW, type Line, type Spot } from "./graph";
import { Monogram } from "./Monogram";

export type SpotNode = Node<{ spot: Spot }, "spot">;
export type LineEdge = Edge<{ line: Line }, "line">;

/** One box: the supervisor, the router, an agent or finalize. */
export const AgentNode = memo(function AgentNode({ data, selected }: NodeProps<SpotNode>) {
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
export const FlowEdge = memo(function FlowEdge(props: EdgeProps<LineEdge>) {
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
