// The same columns as `cleo list`, by wave, windowed.
import { useMemo } from "react";
import type { Row } from "../../api/types";
import { Ago, count, plural } from "../../format";
import { GateMeter, StatusGlyph } from "../../parts/StatusGlyph";
import { Icon } from "../../parts/Icon";
import { coarse, phone } from "../../parts/screen";
import { useQuery, withQuery, Link } from "../../router";
import type { Filters } from "./filters";
import { Mark, markByClick } from "./selection";
import { noteOf, priorityWord, useRows, Unlisted } from "./rows";
import { Windowed } from "../../parts/Windowed";
import { NoneFits } from "../../parts/States";

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

export default function List({ filters }: { filters: Filters }) {
  const [sort, setSort] = useQuery("sort");
  const [dir, setDir] = useQuery("dir");
  const by = sort ?? "wave";
  const listed = useRows(filters, by, dir ?? "asc");
  const { rows, total, whole, loading, more } = listed;
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

  const isFiltered = filters.states.length > 0 || filters.q !== "" || filters.epic !== null;
  if (rows.length === 0 || loading) return <Unlisted rows={listed}>{isFiltered && <NoneFits what="task" all={withQuery({ status: null, q: null, epic: null })} />}</Unlisted>;
  return (
    <div className="pane list">
      <div className="columns" aria-hidden={false}>
        {COLUMNS.map(({ sort: column, label, look }) => (
          <span key={label} className={look}>
            {column ? <Sort label={label} on={by === column} down={dir === "desc"} onClick={() => sortBy(column)} /> : label}
          </span>
        ))}
      </div>
      <Windowed
        className="rows"
        label="Tasks by wave"
        items={items}
        keyOf={(item) => ("heading" in item ? `wave ${item.heading}` : item.id)}
        heightOf={heightOf}
        at={filters.task === null ? -1 : items.findIndex((item) => "id" in item && item.id === filters.task)}
        end={whole ? undefined : more}
      >
        {(item) =>
          "heading" in item ? (
            <h2 className="wave">
              {item.heading} {item.total !== null && <span>{item.done > 0 ? `${count(item.done)} of ${count(item.total)} done` : plural(item.total, "task")}</span>}
            </h2>
          ) : (
            <>
              <Mark id={item.id} />
              <One row={item} selected={item.id === filters.task} />
            </>
          )
        }
      </Windowed>
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

function One({ row, selected }: { row: Row; selected: boolean }) {
  const note = noteOf(row);
  return (
    <Link className="line" href={withQuery({ task: row.id })} aria-current={selected ? "true" : undefined} data-task={row.id} onClickCapture={(event) => markByClick(event, row.id)}>
      <span className="what">
        <StatusGlyph state={row.state} verified={row.verified} still={!row.live} />
        <span className="mono muted id">{row.id}</span>
        <span className={row.state === "done" ? "ell muted title" : "ell title"}>{row.title}</span>
        {row.critical && <span className="chip desk-only">critical path</span>}
        {note && <span className={`ell small note ${row.state === "failed" ? "bad" : "muted"}`}>{note}</span>}
      </span>
      <span className="desk-only muted">{row.priority === "medium" ? "" : priorityWord(row.priority)}</span>
      <span className="wide-only ell mono muted">{row.skill}</span>
      <span className="meter">{row.gates && <GateMeter gates={row.gates} />}</span>
      <span className="wide-only ell mono muted">{row.claim?.holder}</span>
      <span className="desk-only figure muted">
        <Ago at={row.updatedAt} />
      </span>
    </Link>
  );
}

function heightOf(item: Item) {
  if ("heading" in item) return 36;
  if (phone.matches) return 52;
  return coarse.matches ? 44 : 32;
}

/** A heading before the first row of each wave; the last wave may have more rows that are not loaded yet. */
function grouped(rows: Row[], whole: boolean): Item[] {
  const waves = Map.groupBy(rows, (row) => row.wave);
  return [...waves].flatMap(([wave, inWave], at): Item[] => [
    {
      heading: wave === null ? "In a circle" : `Wave ${wave}`,
      total: whole || at < waves.size - 1 ? inWave.length : null,
      done: inWave.filter((row) => row.state === "done").length,
    },
    ...inWave,
  ]);
}
