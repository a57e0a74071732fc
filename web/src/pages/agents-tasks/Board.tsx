import { useId, useRef, useState, memo } from "react";
import { type Registry, Monogram } from "../../agents/agents";
import type { AgentTask, Now, Row, TaskStatus } from "../../api/types";
import { noteOf } from "../work/rows";
import { count, useNow, exact } from "../../format";
import { Button } from "../../parts/Button";
import { APART, STATUS_WORDS, dueWords, STATUSES, GLYPHS, useColumn, useEpics, useStandings, type Card, type Filter, type Moves, type Standings } from "./useTasks";
import { EpicFacts } from "../work/Epics";
import { RunButtons } from "../work/RunButtons";
import { Ghost, Loaded, Trouble } from "../../parts/States";
import { Icon } from "../../parts/Icon";
import { Windowed } from "../../parts/Windowed";
import { Link, useQuery } from "../../router";
import { flip } from "../../api/resource";
import { Menu, type MenuEntry } from "../../parts/Menu";
import { StatusGlyph } from "../../parts/StatusGlyph";

interface BoardProps {
  columns: readonly TaskStatus[];
  /** Whether each epic has a lane of its own. */
  isLaned: boolean;
  filter: Filter;
  moves: Moves;
  registry: Registry;
  selected: string | null;
  onMove: (task: Card, to: TaskStatus, lane?: string) => void;
  onOpen: (task: Card) => void;
}

/** Columns of cards. A card moves by dragging, by its menu and by keys: the same call. */
export function Board({ isLaned, ...rest }: BoardProps) {
  const { dragged, picture, grab } = useDrag(rest.moves.known, rest.onMove);
  const standings = useStandings();
  const Shown = isLaned ? Lanes : Columns;
  return (
    <>
      <Shown dragged={dragged} onGrab={grab} standings={standings} {...rest} />
      {dragged && (
        <div ref={picture} className="agent-lifted" style={dragged.box}>
          <CardOf task={dragged.task} registry={rest.registry} isLifted />
        </div>
      )}
    </>
  );
}

interface Dragged {
  task: Card;
  /** Where the card was. */
  box: { left: number; top: number; width: number };
  /** The column under the pointer. */
  over?: { status: TaskStatus; lane: string | undefined } | undefined;
}

/** A click is no drag: it begins after a few pixels, or on a touch screen after holding. */
function useDrag(known: ReadonlyMap<string, Card>, onMove: BoardProps["onMove"]) {
  const [dragged, setDragged] = useState<Dragged | null>(null);
  const picture = useRef<HTMLDivElement>(null);
  const grab = (down: React.PointerEvent) => {
    const target = down.target as Element;
    const card = target.closest<HTMLElement>("[data-task]");
    const task = known.get(card?.dataset["task"] ?? "");
    // What its dialogs are told bubbles up to it.
    if (!card || !task || down.button !== 0 || target.closest("dialog, [role=menu]")) return;
    let drag: Dragged | null = null;
    const show = (next: Dragged | null) => {
      drag = next;
      setDragged(next);
    };
    const { left, top, width } = card.getBoundingClientRect();
    const lift = () => show({ task, box: { left, top, width } });
    const held = down.pointerType === "touch" ? setTimeout(lift, 250) : null;
    const listening = new AbortController();
    const on = <Name extends keyof WindowEventMap>(name: Name, hear: (event: WindowEventMap[Name]) => void) =>
      window.addEventListener(name, hear, { signal: listening.signal, passive: false, capture: true });
    const end = () => {
      clearTimeout(held ?? 0);
      listening.abort();
      show(null);
    };
    on("pointermove", ({ clientX, clientY }) => {
      const [x, y] = [clientX - down.clientX, clientY - down.clientY];
      if (!drag && Math.hypot(x, y) < 5) return;
      if (!drag && held !== null) return end();
      if (!drag) lift();
      if (picture.current) picture.current.style.translate = `${x}px ${y}px`;
      const { column, lane } = document.elementFromPoint(clientX, clientY)?.closest<HTMLElement>("[data-column]")?.dataset ?? {};
      const over = column ? { status: column as TaskStatus, lane } : undefined;
      if (drag && (drag.over?.status !== over?.status || drag.over?.lane !== lane)) show({ ...drag, over });
    });
    on("pointerup", () => {
      if (drag?.over && picture.current) onMove(task, drag.over.status, drag.over.lane);
      // The click that comes with it opens nothing.
      if (drag) window.addEventListener("click", (event) => event.stopPropagation(), { capture: true, once: true, signal: AbortSignal.timeout(50) });
      end();
    });
    on("pointercancel", end);
    on("keydown", (event) => {
      if (drag && event.key === "Escape") event.stopPropagation();
      end();
    });
    on("touchmove", (event) => drag && event.preventDefault());
    // A selection would be what the browser drags the next time.
    for (const name of ["selectstart", "dragstart"] as const) on(name, (event) => event.preventDefault());
  };
  return { dragged, picture, grab };
}

type ColumnsProps = Omit<BoardProps, "isLaned"> & { dragged: Dragged | null; onGrab: (event: React.PointerEvent) => void; standings: Standings; lane?: string; label?: string };

function Columns({ columns, label = "Board", ...rest }: ColumnsProps) {
  return (
    <div className="agent-board" style={{ "--columns": columns.length } as React.CSSProperties} tabIndex={0} role="group" aria-label={label}>
      {columns.map((status) => (
        <Column key={status} status={status} {...rest} />
      ))}
    </div>
  );
}

/** A lane for each epic, with how far it is, and one for the rest. Those in the address are open, else the first that is not done. */
function Lanes(props: ColumnsProps) {
  const epics = useEpics(true);
  const [open, setOpen] = useQuery("lanes");
  return (
    <Loaded of={epics} rows={4}>
      {({ groups }) => {
        const first = groups.find(({ done, total }) => done < total)?.id ?? APART;
        const shown = new Set((open ?? first).split(","));
        const lanes = [
          ...groups.map((group) => ({ id: group.id, title: group.title, facts: <EpicFacts group={group} /> })),
          { id: APART, title: "Without an epic", facts: <span className="apart">Without an epic</span> },
        ];
        return (
          <div className="agent-lanes">
            {lanes.map(({ id, title, facts }) => (
              <details key={id} open={shown.has(id)}>
                <summary
                  className="line epic-line"
                  onClick={(event) => {
                    event.preventDefault();
                    setOpen([...flip(shown, id)].filter(Boolean).join(",") || ",");
                  }}
                >
                  <Icon name={shown.has(id) ? "down" : "right"} />
                  {facts}
                </summary>
                {shown.has(id) && <Columns {...props} lane={id} label={title} />}
              </details>
            ))}
          </div>
        );
      }}
    </Loaded>
  );
}

type ColumnProps = Omit<ColumnsProps, "columns" | "label"> & { status: TaskStatus };

function Column({ status, lane, dragged, onGrab, filter, moves, standings, registry, selected, onMove, onOpen }: ColumnProps) {
  const isOver = dragged?.over?.status === status && dragged.over.lane === lane;
  const { tasks, total, loading, failure, more, reload } = useColumn(status, filter, lane, moves);
  const at = tasks.findIndex(({ id }) => moves.moved.has(id));
  const heading = useId();
  return (
    <section className={isOver ? "agent-lane over" : "agent-lane"} aria-labelledby={heading} data-column={status} data-lane={lane} onPointerDown={onGrab}>
      <h2 id={heading}>
        <TaskGlyph status={status} />
        {STATUS_WORDS[status]} <span className="muted">{loading ? "" : count(Math.max(total, tasks.length))}</span>
        {lane && <span className="unseen">of {lane}</span>}
      </h2>
      {failure && <Trouble failure={failure} retry={reload} />}
      {loading && <Ghost rows={4} />}
      {!loading && !failure && tasks.length === 0 && <p className="small muted agent-lane-none">Nothing here</p>}
      {tasks.length > 0 && (
        <Windowed className="agent-cards" label={STATUS_WORDS[status]} items={tasks} at={at} keyOf={(task) => task.id} heightOf={() => 92} measured end={tasks.length < total ? more : undefined}>
          {(task) => (
            <div data-task={task.id} className={dragged?.task.id === task.id ? "dragging" : ""}>
              <CardOf
                task={task}
                row={standings.rows.get(task.id)}
                doing={standings.atWork.get(task.id)}
                registry={registry}
                isSelected={selected === task.id}
                onOpen={() => onOpen(task)}
                onMove={(to) => onMove(task, to)}
              />
            </div>
          )}
        </Windowed>
      )}
    </section>
  );
}

interface CardProps {
  task: AgentTask;
  /** Given where it can be run. */
  row?: Row | undefined;
  /** The agent that works on it in a run. */
  doing?: Now["atWork"][number] | undefined;
  registry: Registry;
  isSelected?: boolean;
  /** It is being dragged: a picture of the card. */
  isLifted?: boolean;
  onOpen?: () => void;
  onMove?: (to: TaskStatus) => void;
}

const CardOf = memo(function CardOf({ task, row, doing, registry, isSelected, isLifted, onOpen, onMove }: CardProps) {
  const agent = registry.of(task.assigned_to);
  const looks = ["agent-card", task.priority, isSelected && "selected", isLifted && "lifted", task.status === "done" && "past"].filter(Boolean).join(" ");
  const isLoud = task.priority === "urgent" || task.priority === "high";
  return (
    <article className={looks}>
      <div className="agent-card-head">
        <button type="button" className="agent-card-title" onClick={onOpen}>
          {isLoud && <span className="agent-card-priority">{task.priority} </span>}
          {task.title}
        </button>
        {onMove && (row || doing) && <RunButtons id={task.id} state={row?.state ?? "running"} run={doing?.run} tried={row?.attempt != null} />}
        {onMove && <MoveMenu task={task} onMove={onMove} />}
      </div>
      {doing ? (
        <Link className="row small agent-card-doing" title={`Watch ${task.id}`} href={`/runs/${encodeURIComponent(doing.run ?? "")}?task=${task.id}`}>
          <StatusGlyph state={doing.verifying ? "verifying" : "running"} />
          <span className="ell mono muted">{doing.line ?? doing.agent}</span>
        </Link>
      ) : (
        row?.state === "failed" && (
          <p className="row small">
            <StatusGlyph state="failed" />
            <span className="ell bad">{noteOf(row) || "the last attempt failed"}</span>
          </p>
        )
      )}
      <div className="agent-card-facts">
        <span className="mono muted">{task.id}</span>
        {task.assigned_to === null ? (
          <span className="muted">unassigned</span>
        ) : (
          <span className="row agent-card-agent">
            <Monogram agent={agent} />
            <span className="ell">{agent?.name ?? task.assigned_to}</span>
          </span>
        )}
        <Due task={task} />
        {task.estimated_hours !== null && <span className="muted">{task.estimated_hours} h</span>}
        {task.status === "review" && (
          <span className="row agent-card-review">
            <StatusGlyph state="review" label="" />
            needs you
          </span>
        )}
      </div>
    </article>
  );
});

function Due({ task }: { task: AgentTask }) {
  const words = dueWords(task, useNow());
  if (!words || task.due_date === null) return null;
  return (
    <time className={words.overdue ? "bad" : "muted"} dateTime={task.due_date} title={exact(task.due_date)}>
      {words.text}
    </time>
  );
}

function MoveMenu({ task, onMove }: { task: AgentTask; onMove: (to: TaskStatus) => void }) {
  const to = (status: TaskStatus): MenuEntry => ({ label: STATUS_WORDS[status], disabled: status === task.status, onSelect: () => onMove(status) });
  return (
    <Menu label={`Move ${task.id}`} trigger={<Button look="ghost" small icon="more" aria-label={`Move ${task.id} ${task.title} to`} title="Move to" />} entries={["Move to", ...STATUSES.map(to)]} />
  );
}

/** The glyph of a status, beside its word. Done is grey here: a user said so, and whether cleo
 * verified is on the page of the task. */
export function TaskGlyph({ status }: { status: TaskStatus }) {
  return (
    <span className={status === "done" ? "task-glyph told" : "task-glyph"}>
      <StatusGlyph state={GLYPHS[status]} label="" still />
    </span>
  );
}
