// Columns are the server's states, so no card can be dropped into a lie: "done" asks the server to complete.
import { useRef, useState, type DragEvent } from "react";
import { useVirtualizer } from "@tanstack/react-virtual";
import type { Failure } from "../../api/failure";
import type { Row } from "../../api/work";
import { count } from "../../format/numbers";
import { Button } from "../../parts/Button";
import { useFollowedFocus } from "../../parts/followed";
import { GateMeter } from "../../parts/GateMeter";
import { Menu } from "../../parts/Menu";
import { Ghost, sentence, Trouble } from "../../parts/States";
import { StatusGlyph } from "../../parts/StatusGlyph";
import { STATE_WORDS, type State } from "../../parts/state";
import { Link } from "wouter";
import { withQuery } from "../../router/location";
import { useKeys } from "../../shell/keys";
import { act, ACTS, type Act } from "./acts";
import { isChecked } from "./checked";
import type { Filters } from "./filters";
import { Mark, markByClick } from "./Mark";
import { NoTasks } from "./NoTasks";
import { noteOf, useRows } from "./rows";

const COLUMNS: State[] = ["waiting", "ready", "running", "verifying", "needsYou", "failed", "done"];
const ALWAYS = new Set<State>(["waiting", "ready", "running", "done"]);
const ORDER: State[] = ["ready", "running", "done"];

export default function Board({ filters }: { filters: Filters }) {
  const { rows, counts, whole, more, failure, loading, reload } = useRows(filters, "wave", "asc");
  const [refused, setRefused] = useState<{ id: string; failure: Failure } | null>(null);
  const follow = useFollowedFocus(cardOf);

  async function move(row: Row, to: State) {
    const what = actFor(row.state, to);
    if (!what) return;
    follow(row.id);
    const failed = await act(row.id, what);
    setRefused(failed ? { id: row.id, failure: failed } : null);
  }

  function shift(by: 1 | -1) {
    const id = focused() ?? filters.task;
    const row = rows.find((one) => one.id === id);
    const at = row ? ORDER.indexOf(row.state) : -1;
    const to = ORDER[at + by];
    if (row && at >= 0 && to) void move(row, to);
  }

  useKeys("Board", [
    { keys: "Shift+ArrowRight", does: "Move the card on", run: () => shift(1) },
    { keys: "Shift+ArrowLeft", does: "Move the card back", run: () => shift(-1) },
  ]);

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
  if (rows.length === 0 && filters.states.length === 0 && filters.q === "")
    return (
      <div className="pane">
        <NoTasks />
      </div>
    );
  const columns = COLUMNS.filter((state) => ALWAYS.has(state) || rows.some((row) => row.state === state));
  return (
    <div className="pane board-pane">
      {refused && (
        <div className="notice bad" role="alert">
          <span className="grow">
            {refused.id} stays where it is: {sentence(refused.failure.message)}
          </span>
          <Button small icon="close" look="ghost" aria-label="Close the message" onClick={() => setRefused(null)} />
        </div>
      )}
      <div className="board">
        {columns.map((state) => (
          <Column
            key={state}
            state={state}
            rows={rows.filter((row) => row.state === state)}
            total={whole ? undefined : counts?.[state]}
            verified={isChecked(rows, whole ? undefined : counts)}
            selected={filters.task}
            more={whole ? undefined : more}
            onDrop={(id) => {
              const row = rows.find((one) => one.id === id);
              if (row) void move(row, state);
            }}
            onMove={(row, to) => void move(row, to)}
          />
        ))}
      </div>
    </div>
  );
}

function cardOf(id: string): HTMLElement | null {
  return document.querySelector<HTMLElement>(`.board [data-task="${CSS.escape(id)}"]`);
}

/** The task whose card has the focus. */
function focused(): string | null {
  return document.activeElement?.closest(".board [data-task]")?.getAttribute("data-task") ?? null;
}

/** The verb behind a move; null when cleo itself decides about that column. */
export function actFor(from: State, to: State): Act | null {
  if (from === to) return null;
  if (to === "done") return "complete";
  if (to === "running" && ACTS.start.from.includes(from)) return "start";
  if (to === "ready" && ACTS.reopen.from.includes(from)) return "reopen";
  return null;
}

interface ColumnProps {
  state: State;
  rows: Row[];
  total: number | undefined;
  /** Whether cleo itself checked all that is done. */
  verified: boolean;
  selected: string | null;
  more: (() => void) | undefined;
  onDrop: (id: string) => void;
  onMove: (row: Row, to: State) => void;
}

function Column({ state, rows, total, verified, selected, more, onDrop, onMove }: ColumnProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const [over, setOver] = useState(false);
  const window = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => 68,
    getItemKey: (i) => rows[i]?.id ?? i,
    overscan: 6,
  });
  function drop(event: DragEvent) {
    event.preventDefault();
    setOver(false);
    onDrop(event.dataTransfer.getData("text/plain"));
  }
  return (
    <section
      className={over ? "column over" : "column"}
      aria-label={STATE_WORDS[state]}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={drop}
    >
      <h2>
        <StatusGlyph state={state} verified={verified} label="" />
        {STATE_WORDS[state]} <span>{count(total ?? rows.length)}</span>
      </h2>
      <div ref={scroller} className="cards" tabIndex={0} role="group" aria-label={`Cards: ${STATE_WORDS[state]}`}>
        <ul style={{ height: window.getTotalSize() }}>
          {window.getVirtualItems().map((item) => {
            const row = rows[item.index];
            return (
              row && (
                <li key={item.key} style={{ transform: `translateY(${item.start}px)`, height: item.size }}>
                  <Card row={row} selected={row.id === selected} onMove={onMove} />
                </li>
              )
            );
          })}
        </ul>
        {more && (
          <Button small look="ghost" onClick={more}>
            Load more tasks
          </Button>
        )}
      </div>
    </section>
  );
}

function Card({ row, selected, onMove }: { row: Row; selected: boolean; onMove: (row: Row, to: State) => void }) {
  const note = noteOf(row);
  const moves = (["ready", "running", "done"] as State[]).filter((to) => actFor(row.state, to));
  return (
    <div className={`card ${row.state}`} draggable onDragStart={(event) => event.dataTransfer.setData("text/plain", row.id)}>
      <Mark id={row.id} />
      <Link href={withQuery({ task: row.id })} aria-current={selected ? "true" : undefined} draggable={false} data-task={row.id} onClickCapture={(event) => markByClick(event, row.id)}>
        <span className="ell strong">{row.title}</span>
        <span className="row small muted">
          <span className="mono">{row.id}</span>
          <span className={`grow ell ${row.state === "failed" ? "bad" : ""}`}>{note}</span>
          {row.gates && <GateMeter gates={row.gates} />}
        </span>
      </Link>
      {moves.length > 0 && (
        <Menu
          label={`Move ${row.id} to`}
          trigger={<Button look="ghost" small icon="more" aria-label={`Move ${row.id}`} />}
          entries={["Move to", ...moves.map((to) => ({ label: STATE_WORDS[to], onSelect: () => onMove(row, to) }))]}
        />
      )}
    </div>
  );
}
