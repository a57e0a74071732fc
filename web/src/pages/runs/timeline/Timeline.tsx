// Rows by wave, then by first start, fixed for the life of the run; one bar an attempt, its check at the end.
import { useEffect, useMemo, useRef, useState, type PointerEvent, type WheelEvent, memo } from "react";
import type { RunPage, RunTask } from "../../../api/types";
import { millis, duration, offset } from "../../../format";
import { Button } from "../../../parts/Button";
import { Icon } from "../../../parts/Icon";
import { coarse, phone } from "../../../parts/screen";
import { StatusGlyph } from "../../../parts/StatusGlyph";
import { navigate, usePlace, withQuery, Link } from "../../../router";
import { useKeys } from "../../../shell/keys";
import { whole, within, zoomed, type Range, place, ticks, segmentsOf } from "./scale";
import { load, useElapsed } from "../attempts";
import { told } from "../../../parts/States";
import { Windowed } from "../../../parts/Windowed";
import { flip } from "../../../api/resource";

type Row = { wave: number | null; total: number; done: number; folded: boolean } | RunTask;

export function Timeline({ page, live, selected }: { page: RunPage; live: boolean; selected: string | null }) {
  const start = millis(page.run.startedAt);
  const elapsed = useElapsed(page, live);
  const all = whole(elapsed, live);
  const { range, setRange, following } = useRange(all, live);
  const [folded, setFolded] = useState<ReadonlySet<number | null>>(() => foldedAtFirst(page.tasks));
  const rows = useMemo(() => rowsOf(page.tasks, folded), [page.tasks, folded]);
  const { axis, width } = useWidth();
  function zoom(by: number) {
    setRange(zoomed(range, by, all));
  }
  useKeys("Timeline", [
    { keys: "+|=", does: "Zoom in", run: () => zoom(0.5) },
    { keys: "-", does: "Zoom out", run: () => zoom(2) },
    { keys: "0", does: "Whole run", run: () => setRange(null) },
    { keys: "Enter", does: "Zoom to the step", run: () => setRange(rangeOf(page.tasks, selected, start, elapsed, all)) },
  ]);
  const drag = useDrag(range, all, width, setRange);

  function toggle(wave: number | null) {
    setFolded(flip(folded, wave));
  }

  return (
    <section className="timeline" aria-label="Timeline">
      <div className="axis-row">
        <div className="labels caption">
          <span className="grow">{counted(page)}</span>
          <span className="row tight">
            <Button small look="ghost" icon="minus" aria-label="Zoom out" onClick={() => zoom(2)} />
            <Button small look="ghost" icon="plus" aria-label="Zoom in" onClick={() => zoom(0.5)} />
            {!following && <Button small look="ghost" icon="fit" aria-label="Whole run" onClick={() => setRange(null)} />}
          </span>
        </div>
        <div ref={axis} className="axis" onWheel={(event) => wheel(event, range, all, setRange)} {...drag}>
          <Axis page={page} range={range} width={width} start={start} elapsed={elapsed} live={live} />
        </div>
      </div>
      <Windowed
        className="time-rows"
        label="Steps by wave"
        items={rows}
        keyOf={(row) => ("taskId" in row ? row.taskId : `wave ${row.wave}`)}
        heightOf={heightOf}
        at={rows.findIndex((row) => "taskId" in row && row.taskId === selected)}
      >
        {(row) => ("taskId" in row ? <StepRow task={row} selected={row.taskId === selected} range={range} start={start} elapsed={elapsed} /> : <WaveRow row={row} onToggle={() => toggle(row.wave)} />)}
      </Windowed>
    </section>
  );
}

function StepRow({ task, selected, range, start, elapsed }: { task: RunTask; selected: boolean; range: Range; start: number; elapsed: number }) {
  return (
    <Link className="time-row" href={withQuery({ task: task.taskId, attempt: null })} replace aria-current={selected ? "true" : undefined}>
      <span className="labels">
        <StatusGlyph state={task.state} />
        <span className="mono muted">{task.taskId}</span>
        <span className="ell grow">{task.title}</span>
        <span className="small muted ell">{task.state === "running" && task.doing ? task.doing : task.runner}</span>
      </span>
      <span className="bars">
        <Bars task={task} range={range} start={start} elapsed={elapsed} />
      </span>
    </Link>
  );
}

function WaveRow({ row, onToggle }: { row: Exclude<Row, RunTask>; onToggle: () => void }) {
  return (
    <button type="button" className="time-row wave-row" aria-expanded={!row.folded} onClick={onToggle}>
      <span className="labels">
        <Icon name={row.folded ? "right" : "down"} />
        {row.wave === null ? "No wave" : `Wave ${row.wave}`}
        <span className="muted">
          {row.done} of {row.total} verified
        </span>
      </span>
      <span className="bars" />
    </button>
  );
}

/** The range is in the address, in seconds; without one the whole run is shown and now is followed. */
function useRange(all: Range, live: boolean) {
  const { query } = usePlace();
  const from = Number(query.get("from") ?? Number.NaN) * 1000;
  const to = Number(query.get("to") ?? Number.NaN) * 1000;
  const given = Number.isFinite(from) && Number.isFinite(to) && to > from;
  const range = given ? within({ from, to }, live ? { from: 0, to: Math.max(all.to, to) } : all) : all;
  function setRange(next: Range | null) {
    const text = (ms: number) => String(Math.round(ms) / 1000);
    const full = next === null || next.to - next.from >= all.to - all.from;
    navigate(withQuery(full ? { from: null, to: null } : { from: text(next.from), to: text(next.to) }), { replace: true });
  }
  return { range, setRange, following: !given };
}

function useWidth() {
  const [width, setWidth] = useState(800);
  const [element, axis] = useState<HTMLDivElement | null>(null);
  useEffect(() => {
    if (!element) return;
    const watcher = new ResizeObserver(() => setWidth(element.clientWidth));
    watcher.observe(element);
    return () => watcher.disconnect();
  }, [element]);
  return { axis, width };
}

/** Drag pans; with Shift the dragged stretch becomes the range. */
function useDrag(range: Range, all: Range, width: number, setRange: (range: Range) => void) {
  const begin = useRef<{ x: number; range: Range; shift: boolean } | null>(null);
  const timeAt = (event: PointerEvent<HTMLElement>) => {
    const box = event.currentTarget.getBoundingClientRect();
    return range.from + ((event.clientX - box.left) / Math.max(width, 1)) * (range.to - range.from);
  };
  return {
    onPointerDown(event: PointerEvent<HTMLElement>) {
      event.currentTarget.setPointerCapture(event.pointerId);
      begin.current = { x: event.shiftKey ? timeAt(event) : event.clientX, range, shift: event.shiftKey };
    },
    onPointerMove(event: PointerEvent<HTMLElement>) {
      const from = begin.current;
      if (!from || from.shift) return;
      const moved = ((from.x - event.clientX) / Math.max(width, 1)) * (from.range.to - from.range.from);
      if (Math.abs(event.clientX - from.x) > 2) setRange(within({ from: from.range.from + moved, to: from.range.to + moved }, all));
    },
    onPointerUp(event: PointerEvent<HTMLElement>) {
      const from = begin.current;
      begin.current = null;
      if (!from?.shift) return;
      const to = timeAt(event);
      if (Math.abs(to - from.x) > 20) setRange(within({ from: Math.min(from.x, to), to: Math.max(from.x, to) }, all));
    },
  };
}

function wheel(event: WheelEvent<HTMLElement>, range: Range, all: Range, setRange: (range: Range) => void) {
  const box = event.currentTarget.getBoundingClientRect();
  const at = range.from + ((event.clientX - box.left) / box.width) * (range.to - range.from);
  if (event.deltaY !== 0) setRange(zoomed(range, event.deltaY > 0 ? 1.2 : 1 / 1.2, all, at));
}

function rangeOf(tasks: RunTask[], id: string | null, start: number, elapsed: number, all: Range): Range | null {
  const task = tasks.find((one) => one.taskId === id);
  if (!task?.startedAt) return null;
  const from = millis(task.startedAt) - start;
  const to = task.endedAt ? millis(task.endedAt) - start : elapsed;
  const margin = Math.max(10, (to - from) * 0.08);
  return within({ from: from - margin, to: to + margin }, all);
}

function rowsOf(tasks: RunTask[], folded: ReadonlySet<number | null>): Row[] {
  const waves = Map.groupBy(
    tasks.filter((task) => !task.isEpic),
    (task) => task.wave,
  );
  return [...waves].flatMap(([wave, list]): Row[] => {
    const head = { wave, total: list.length, done: list.filter((task) => task.state === "done").length, folded: folded.has(wave) };
    return head.folded ? [head] : [head, ...list];
  });
}

/** In a very long run finished waves begin folded. */
function foldedAtFirst(tasks: RunTask[]): ReadonlySet<number | null> {
  if (tasks.length <= 400) return new Set();
  const open = new Set(tasks.filter((task) => task.state !== "done" && task.state !== "skipped").map((task) => task.wave));
  return new Set(tasks.map((task) => task.wave).filter((wave) => !open.has(wave)));
}

/** On a phone the bars have a line of their own under the name. */
function heightOf(row: Row) {
  if (phone.matches && "taskId" in row) return 52;
  return coarse.matches || phone.matches ? 44 : 26;
}

function counted(page: RunPage) {
  const steps = page.run.steps;
  if (!steps) return "";
  const open = steps.total - steps.done - steps.failed - steps.skipped - steps.cancelled;
  return [
    `${steps.done} verified`,
    steps.failed > 0 && `${steps.failed} failed`,
    steps.cancelled > 0 && `${steps.cancelled} cancelled`,
    steps.skipped > 0 && `${steps.skipped} skipped`,
    `${open} open`,
  ]
    .filter(Boolean)
    .join(", ");
}

const HEIGHT = 26;

function Axis({ page, range, width, start, elapsed, live }: { page: RunPage; range: Range; width: number; start: number; elapsed: number; live: boolean }) {
  // The marker of the current time covers the label of a tick behind it.
  const covered = (at: number) => live && Math.abs(place(at, range) - place(elapsed, range)) * width < 5600 && at > elapsed - 1;
  return (
    <>
      <Area page={page} range={range} start={start} elapsed={elapsed} />
      {ticks(range, width).map((at) => (
        <span key={at} className="tick" style={{ left: `${place(at, range)}%` }}>
          {covered(at) ? "" : range.to - range.from < 5000 ? duration(at) : offset(at)}
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

/** Was the limit the brake? The step area against the dashed line answers it. */
function Area({ page, range, start, elapsed }: { page: RunPage; range: Range; start: number; elapsed: number }) {
  const points = load(page).map(({ at, n }) => ({ at: at - start, n }));
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

/** The bars of one step, with its fate as text behind the last one. */
const Bars = memo(function Bars({ task, range, start, elapsed }: { task: RunTask; range: Range; start: number; elapsed: number }) {
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
