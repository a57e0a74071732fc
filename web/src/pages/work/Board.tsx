// Columns are the server's states, so no card can be dropped into a lie: "done" asks the server to complete.
import { useState, type DragEvent } from "react";
import { Failure } from "../../api/request";
import type { Row } from "../../api/types";
import { count } from "../../format";
import { Button } from "../../parts/Button";
import { useFollowedFocus } from "../../parts/followed";
import { GateMeter, StatusGlyph, STATE_WORDS, type State } from "../../parts/StatusGlyph";
import { Menu } from "../../parts/Menu";
import { sentence, Refusal } from "../../parts/States";
import { withQuery, Link } from "../../router";
import { useKeys } from "../../shell/keys";
import { act, ACTS, type Act, isChecked, noteOf, useRows, Unlisted } from "./rows";
import type { Filters } from "./filters";
import { Mark, markByClick } from "./selection";
import { Windowed } from "../../parts/Windowed";

const COLUMNS: State[] = ["waiting", "ready", "running", "verifying", "needsYou", "failed", "done"];
const ALWAYS = new Set<State>(["waiting", "ready", "running", "done"]);
const ORDER: State[] = ["ready", "running", "done"];

export default function Board({ filters }: { filters: Filters }) {
  const listed = useRows(filters, "wave", "asc");
  const { rows, counts, whole, more, failure, loading } = listed;
  const [refused, setRefused] = useState<{ id: string; failure: Failure } | null>(null);
  const follow = useFollowedFocus(cardOf);

  async function move(row: Row, to: State) {
    const what = actFor(row.state, to);
    if (!what) return;
    follow(row.id);
    try {
      await act(row.id, what);
      setRefused(null);
    } catch (fault) {
      setRefused({ id: row.id, failure: Failure.from(fault) });
    }
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

  if (loading || (rows.length === 0 && (failure || (filters.states.length === 0 && filters.q === "")))) return <Unlisted rows={listed} />;
  const columns = COLUMNS.filter((state) => ALWAYS.has(state) || rows.some((row) => row.state === state));
  return (
    <div className="pane board-pane">
      {refused && (
        <Refusal onClose={() => setRefused(null)}>
          {refused.id} stays where it is: {sentence(refused.failure.message)}
        </Refusal>
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

function focused(): string | null {
  return document.activeElement?.closest(".board [data-task]")?.getAttribute("data-task") ?? null;
}

/** The verb behind a move; null when cleo itself decides about that column. */
function actFor(from: State, to: State): Act | null {
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
  const [over, setOver] = useState(false);
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
        <StatusGlyph state={state} verified={verified} label="" still />
        {STATE_WORDS[state]} <span>{count(total ?? rows.length)}</span>
      </h2>
      <Windowed
        className="cards"
        label={`Cards: ${STATE_WORDS[state]}`}
        items={rows}
        keyOf={(row) => row.id}
        heightOf={() => 68}
        foot={
          more && (
            <Button small look="ghost" onClick={more}>
              Load more tasks
            </Button>
          )
        }
      >
        {(row) => <Card row={row} selected={row.id === selected} onMove={onMove} />}
      </Windowed>
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
