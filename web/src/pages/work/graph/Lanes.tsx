// A wave is a lane, left to right is time. Names stay at the top however far one goes down.
import { useStore, ViewportPortal } from "@xyflow/react";
import type { Graph, Lane } from "../../../api/work";
import { Link } from "wouter";
import { withQuery } from "../../../router/location";

export function Lanes({ graph }: { graph: Graph }) {
  return (
    <ViewportPortal>
      <div className="lanes" aria-hidden="true">
        {graph.lanes.map((lane) => (
          <i key={lane.key} style={{ left: lane.x, width: lane.width }} />
        ))}
      </div>
    </ViewportPortal>
  );
}

export function LaneHeads({ graph }: { graph: Graph }) {
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
  const style = { transform: `translateX(${left}px)`, width };
  if (!lane.folded)
    return (
      <h2 style={style} title={lane.label}>
        {words}
      </h2>
    );
  return (
    <h2 style={style}>
      <Link href={withQuery({ unfold: lane.key })} replace title={`Unfold: ${lane.label}`}>
        {words}
      </Link>
    </h2>
  );
}
