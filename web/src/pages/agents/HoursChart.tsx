import type { Metrics } from "../../agents/types";
import { count, plural } from "../../format/numbers";

type Window = Metrics["dashboard"]["window"];

/** One bar for each of the last 24 hours, on one scale from 0; what failed is the red part at the foot. */
export function HoursChart({ window: { hours, executions, failed } }: { window: Window }) {
  const most = Math.max(...hours.map((hour) => hour.executions), 1);
  const name = `${plural(executions, "execution")} in 24 hours, ${count(failed)} failed, at most ${count(most)} in an hour`;
  const high = (value: number) => (value === 0 ? 0 : Math.max(1, (38 * value) / most));
  return (
    <svg className="agent-hours" viewBox={`0 0 ${hours.length * 8} 40`} preserveAspectRatio="none" role="img" aria-label={name}>
      {hours.map((hour, at) => (
        <g key={hour.at}>
          <title>{`${hour.at.slice(11, 16)} UTC: ${plural(hour.executions, "execution")}, ${count(hour.failed)} failed`}</title>
          <rect className="none" x={at * 8 + 1} y="0" width="6" height="40" />
          <rect x={at * 8 + 1} y={40 - high(hour.executions)} width="6" height={high(hour.executions)} />
          <rect className="failed" x={at * 8 + 1} y={40 - high(hour.failed)} width="6" height={high(hour.failed)} />
        </g>
      ))}
    </svg>
  );
}
