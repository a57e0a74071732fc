// Above the rows: running agents over time with the limit, the ticks, the line of now.
import type { RunPage } from "../../../api/runs";
import { duration, offset } from "../../../format/numbers";
import { millis } from "../../../format/time";
import { place, ticks, type Range } from "./scale";

const HEIGHT = 26;

interface Props {
  page: RunPage;
  range: Range;
  width: number;
  start: number;
  elapsed: number;
  live: boolean;
}

export function Axis({ page, range, width, start, elapsed, live }: Props) {
  // The flag of now stands before the time of a tick behind it.
  const covered = (at: number) => live && Math.abs(place(at, range) - place(elapsed, range)) * width < 5600 && at > elapsed - 1;
  return (
    <>
      <Area page={page} range={range} start={start} elapsed={elapsed} />
      {ticks(range, width).map((at) => (
        <span key={at} className="tick" style={{ left: `${place(at, range)}%` }}>
          {covered(at) ? "" : label(at, range)}
        </span>
      ))}
      {live && elapsed >= range.from && elapsed <= range.to && (
        <span className="now" style={{ left: `${place(elapsed, range)}%` }}>
          <b>{duration(Math.floor(elapsed / 1000) * 1000)}</b>
        </span>
      )}
    </>
  );
}

function label(at: number, range: Range) {
  return range.to - range.from < 5000 ? duration(at) : offset(at);
}

/** Was the limit the brake? The step area against the dashed line answers it. */
function Area({ page, range, start, elapsed }: { page: RunPage; range: Range; start: number; elapsed: number }) {
  const points = page.running.map(({ at, n }) => ({ at: millis(at) - start, n }));
  if (points.length === 0) return null;
  const limit = page.run.limit ?? 0;
  const most = Math.max(limit, ...points.map((point) => point.n), 1);
  const x = (at: number) => (10 * place(at, range)).toFixed(2);
  const y = (n: number) => (HEIGHT - (n / most) * (HEIGHT - 4)).toFixed(2);
  const line = points.map((point, i) => `${i === 0 ? "M" : "H"}${x(point.at)}${i === 0 ? ` ${y(point.n)}` : `V${y(point.n)}`}`).join("") + `H${x(elapsed)}`;
  const peak = Math.max(...points.map((point) => point.n));
  const words = `Running agents over time: at most ${peak}${limit > 0 ? `, limit ${limit}` : ""}`;
  return (
    <svg className="area" viewBox={`0 0 1000 ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label={words}>
      <title>{words}</title>
      <path d={`${line}V${HEIGHT}H${x(points[0]?.at ?? 0)}Z`} fill="var(--n4)" />
      <path d={line} fill="none" stroke="var(--n9)" vectorEffect="non-scaling-stroke" />
      {limit > 0 && <path d={`M0 ${y(limit)}H1000`} stroke="var(--n8)" strokeDasharray="3 4" vectorEffect="non-scaling-stroke" />}
    </svg>
  );
}
