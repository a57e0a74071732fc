import { duration } from "../../format/numbers";

/** One bar for each answer, on one scale from 0. */
export function TimesChart({ values }: { values: readonly number[] }) {
  const most = Math.max(...values, 1);
  const name = `${values.length} answers took from ${duration(Math.min(...values))} to ${duration(Math.max(...values))}`;
  return (
    <svg className="agent-times" viewBox={`0 0 ${Math.max(values.length, 12) * 8} 40`} preserveAspectRatio="none" role="img" aria-label={name}>
      {values.map((value, at) => {
        const height = Math.max(1, (38 * value) / most);
        return (
          <rect key={at} x={at * 8 + 1} y={40 - height} width="6" height={height}>
            <title>{duration(value)}</title>
          </rect>
        );
      })}
    </svg>
  );
}
