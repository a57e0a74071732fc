import { memo } from "react";
import type { RunTask } from "../../../api/runs";
import { duration } from "../../../format/numbers";
import { told } from "../../../parts/told";
import { place, type Range } from "./scale";
import { segmentsOf } from "./segments";

/** The bars of one step, with its fate as text behind the last one. */
export const Bars = memo(function Bars({ task, range, start, elapsed }: { task: RunTask; range: Range; start: number; elapsed: number }) {
  const segments = segmentsOf(task, start, elapsed).filter((one) => one.to >= range.from && one.from <= range.to);
  const last = segments.at(-1);
  return (
    <>
      {segments.map((one, i) => {
        const left = Math.max(-1, place(one.from, range));
        const width = Math.min(101, place(one.to, range)) - left;
        return <i key={i} className={`bar-${one.kind}`} style={{ left: `${left}%`, width: `${width}%` }} title={`${one.name}, ${duration(one.to - one.from)}`} />;
      })}
      {last && <Words task={task} left={Math.min(100, place(last.to, range))} short={place(last.to, range) - place(last.from, range) < 0.3 ? duration(last.to - last.from) : null} />}
      <span className="unseen">{segments.map((one) => `${one.name}, ${duration(one.to - one.from)}`).join("; ")}</span>
    </>
  );
});

function Words({ task, left, short }: { task: RunTask; left: number; short: string | null }) {
  const words = task.state === "failed" || task.state === "skipped" || task.state === "cancelled" ? (task.reason ?? task.outcome) : short;
  if (!words || left > 86) return null;
  return (
    <b className="ell" style={{ left: `calc(${left}% + 6px)`, maxWidth: `calc(${100 - left}% - 10px)` }}>
      {told(words).words}
    </b>
  );
}
