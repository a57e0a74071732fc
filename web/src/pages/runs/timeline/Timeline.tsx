// Rows by wave, then by first start, fixed for the life of the run; one bar an attempt, its check at the end.
import { useEffect, useMemo, useRef, useState, type PointerEvent, type WheelEvent } from "react";
import { useVirtualizer } from "@tanstack/react-virtual";
import type { RunPage, RunTask } from "../../../api/runs";
import { useNow } from "../../../format/clock";
import { millis } from "../../../format/time";
import { Button } from "../../../parts/Button";
import { Icon } from "../../../parts/Icon";
import { coarse, phone } from "../../../parts/screen";
import { StatusGlyph } from "../../../parts/StatusGlyph";
import { Link } from "wouter";
import { navigate, usePlace, withQuery } from "../../../router/location";
import { useKeys } from "../../../shell/keys";
import { clockAt } from "../RunRail";
import { Axis } from "./Axis";
import { Bars } from "./Bars";
import { whole, within, zoomed, type Range } from "./scale";

type Row = { wave: number | null; total: number; done: number; folded: boolean } | RunTask;

export function Timeline({ page, live, selected }: { page: RunPage; live: boolean; selected: string | null }) {
  const start = millis(page.run.startedAt);
  const elapsed = useElapsed(page, live);
  const all = whole(elapsed, live);
  const { range, setRange, following } = useRange(all, live);
  const [folded, setFolded] = useState<ReadonlySet<number | null>>(() => foldedAtFirst(page.tasks));
  const rows = useMemo(() => rowsOf(page.tasks, folded), [page.tasks, folded]);
  const scroller = useRef<HTMLDivElement>(null);
  const { axis, width } = useWidth();
  const list = useVirtualizer({ count: rows.length, getScrollElement: () => scroller.current, estimateSize: (i) => heightOf(rows[i]), overscan: 20, getItemKey: (i) => keyOf(rows[i], i) });
  const at = rows.findIndex((row) => "taskId" in row && row.taskId === selected);
  useEffect(() => {
    if (at >= 0) list.scrollToIndex(at, { align: "auto" });
  }, [at, list]);

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
    const next = new Set(folded);
    if (!next.delete(wave)) next.add(wave);
    setFolded(next);
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
      <div ref={scroller} className="time-rows" tabIndex={0} role="group" aria-label="Steps by wave">
        <ol style={{ height: list.getTotalSize() }}>
          {list.getVirtualItems().map((item) => {
            const row = rows[item.index];
            return (
              row && (
                <li key={item.key} style={{ transform: `translateY(${item.start}px)`, height: item.size }}>
                  {"taskId" in row ? <StepRow task={row} selected={row.taskId === selected} range={range} start={start} elapsed={elapsed} /> : <WaveRow row={row} onToggle={() => toggle(row.wave)} />}
                </li>
              )
            );
          })}
        </ol>
      </div>
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

/** Milliseconds of the run so far, by the server's clock. */
function useElapsed(page: RunPage, live: boolean) {
  const now = useNow();
  const start = millis(page.run.startedAt);
  if (!live) return (page.run.completedAt ? millis(page.run.completedAt) : millis(page.now)) - start;
  return Math.max(0, now + millis(page.now) - clockAt(page.now) - start);
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
  const waves = new Map<number | null, RunTask[]>();
  for (const task of tasks) {
    if (task.isEpic) continue;
    const wave = waves.get(task.wave);
    if (wave) wave.push(task);
    else waves.set(task.wave, [task]);
  }
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
function heightOf(row: Row | undefined) {
  if (phone.matches && row && "taskId" in row) return 52;
  return coarse.matches || phone.matches ? 44 : 26;
}

function keyOf(row: Row | undefined, index: number) {
  if (!row) return index;
  return "taskId" in row ? row.taskId : `wave ${row.wave}`;
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
