// The same columns as `cleo list`, by wave, windowed.
import { useEffect, useMemo, useRef } from "react";
import { useVirtualizer } from "@tanstack/react-virtual";
import type { Row } from "../../api/work";
import { Ago } from "../../format";
import { count, plural } from "../../format/numbers";
import { GateMeter } from "../../parts/GateMeter";
import { Icon } from "../../parts/Icon";
import { coarse, phone } from "../../parts/screen";
import { Empty, Ghost, Trouble } from "../../parts/States";
import { StatusGlyph } from "../../parts/StatusGlyph";
import { Link } from "wouter";
import { useQuery, withQuery } from "../../router/location";
import type { Filters } from "./filters";
import { Mark, markByClick } from "./Mark";
import { NoTasks } from "./NoTasks";
import { noteOf, useRows } from "./rows";

/** How many tasks a wave has is known once all of it was read. */
type Item = { heading: string; total: number | null; done: number } | Row;

const COLUMNS: { sort: string | null; label: string; look?: string }[] = [
  { sort: "title", label: "Task" },
  { sort: "priority", label: "Priority", look: "desk-only" },
  { sort: null, label: "Skill", look: "wide-only" },
  { sort: null, label: "Gates", look: "desk-only" },
  { sort: null, label: "Claim", look: "wide-only" },
  { sort: "age", label: "Changed", look: "figure desk-only" },
];

export function List({ filters }: { filters: Filters }) {
  const [sort, setSort] = useQuery("sort");
  const [dir, setDir] = useQuery("dir");
  const by = sort ?? "wave";
  const { rows, total, whole, failure, loading, more, reload } = useRows(filters, by, dir ?? "asc");
  const items = useMemo(() => (by === "wave" ? grouped(rows, whole) : rows), [rows, by, whole]);

  function sortBy(column: string) {
    if (by !== column) {
      setSort(column);
      setDir(null);
    } else if (dir === "desc") {
      setSort(null);
      setDir(null);
    } else setDir("desc");
  }

  if (failure && rows.length === 0)
    return (
      <div className="pane">
        <Trouble failure={failure} retry={reload} />
      </div>
    );
  if (loading)
    return (
      <div className="pane">
        <Ghost rows={12} />
      </div>
    );
  if (rows.length === 0)
    return (
      <div className="pane">
        <Nothing filters={filters} />
      </div>
    );
  return (
    <div className="pane list">
      <div className="columns" aria-hidden={false}>
        {COLUMNS.map(({ sort: column, label, look }) => (
          <span key={label} className={look}>
            {column ? <Sort label={label} on={by === column} down={dir === "desc"} onClick={() => sortBy(column)} /> : label}
          </span>
        ))}
      </div>
      <Scroll items={items} selected={filters.task} end={whole ? undefined : more} />
      <p className="unseen" role="status">
        {plural(total ?? rows.length, "task")}
      </p>
    </div>
  );
}

function Sort({ label, on, down, onClick }: { label: string; on: boolean; down: boolean; onClick: () => void }) {
  return (
    <button type="button" className="sort" onClick={onClick} aria-label={`${label}, ${on ? `sorted ${down ? "down" : "up"}` : "sort"}`}>
      {label}
      {on && <Icon name={down ? "down" : "up"} />}
    </button>
  );
}

function Scroll({ items, selected, end }: { items: Item[]; selected: string | null; end: (() => void) | undefined }) {
  const scroller = useRef<HTMLDivElement>(null);
  const window = useVirtualizer({
    count: items.length,
    getScrollElement: () => scroller.current,
    estimateSize: (i) => heightOf(items[i]),
    getItemKey: (i) => keyOf(items[i], i),
    overscan: 16,
  });
  const at = selected ? items.findIndex((item) => !("heading" in item) && item.id === selected) : -1;
  useEffect(() => {
    if (at >= 0) window.scrollToIndex(at, { align: "auto" });
  }, [at, window]);
  const shown = window.getVirtualItems();
  const last = shown.at(-1)?.index ?? 0;
  useEffect(() => {
    if (end && last > items.length - 60) end();
  }, [end, last, items.length]);
  return (
    <div ref={scroller} className="rows" tabIndex={0} role="group" aria-label="Tasks by wave">
      <ul style={{ height: window.getTotalSize() }}>
        {shown.map((row) => {
          const item = items[row.index];
          return (
            item && (
              <li key={row.key} style={{ transform: `translateY(${row.start}px)`, height: row.size }} aria-setsize={items.length} aria-posinset={row.index + 1}>
                {"heading" in item ? (
                  <Heading {...item} />
                ) : (
                  <>
                    <Mark id={item.id} />
                    <One row={item} selected={item.id === selected} />
                  </>
                )}
              </li>
            )
          );
        })}
      </ul>
    </div>
  );
}

function Heading({ heading, total, done }: { heading: string; total: number | null; done: number }) {
  return (
    <h2 className="wave">
      {heading} {total !== null && <span>{done > 0 ? `${count(done)} of ${count(total)} done` : plural(total, "task")}</span>}
    </h2>
  );
}

function One({ row, selected }: { row: Row; selected: boolean }) {
  const note = noteOf(row);
  return (
    <Link className="line" href={withQuery({ task: row.id })} aria-current={selected ? "true" : undefined} data-task={row.id} onClickCapture={(event) => markByClick(event, row.id)}>
      <span className="what">
        <StatusGlyph state={row.state} verified={row.verified} />
        <span className="mono muted id">{row.id}</span>
        <span className={row.state === "done" ? "ell muted title" : "ell title"}>{row.title}</span>
        {row.critical && <span className="chip desk-only">critical path</span>}
        {note && <span className={`ell small note ${row.state === "failed" ? "bad" : "muted"}`}>{note}</span>}
      </span>
      <span className="desk-only muted">{row.priority === "medium" ? "" : row.priority}</span>
      <span className="wide-only ell mono muted">{row.skill}</span>
      <span className="meter">{row.gates && <GateMeter gates={row.gates} />}</span>
      <span className="wide-only ell mono muted">{row.claim?.holder}</span>
      <span className="desk-only figure muted">
        <Ago at={row.updatedAt} />
      </span>
    </Link>
  );
}

function Nothing({ filters }: { filters: Filters }) {
  if (filters.states.length > 0 || filters.q !== "" || filters.epic) {
    return (
      <Empty
        action={
          <Link className="link" href={withQuery({ status: null, q: null, epic: null })} replace>
            Show all tasks
          </Link>
        }
      >
        No task fits this filter.
      </Empty>
    );
  }
  return <NoTasks />;
}

function heightOf(item: Item | undefined) {
  if (item && "heading" in item) return 36;
  if (phone.matches) return 52;
  return coarse.matches ? 44 : 32;
}

function keyOf(item: Item | undefined, index: number) {
  if (!item) return String(index);
  return "heading" in item ? `wave ${item.heading}` : item.id;
}

/** A heading before the first row of each wave; the last one may go on in what was not read yet. */
function grouped(rows: Row[], whole: boolean): Item[] {
  const waves = new Map<number | null, Row[]>();
  for (const row of rows) {
    const wave = waves.get(row.wave);
    if (wave) wave.push(row);
    else waves.set(row.wave, [row]);
  }
  return [...waves].flatMap(([wave, inWave], at): Item[] => [
    {
      heading: wave === null ? "In a circle" : `Wave ${wave}`,
      total: whole || at < waves.size - 1 ? inWave.length : null,
      done: inWave.filter((row) => row.state === "done").length,
    },
    ...inWave,
  ]);
}
