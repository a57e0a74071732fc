import { DndContext, DragOverlay, PointerSensor, TouchSensor, useDraggable, useDroppable, useSensor, useSensors, type DragEndEvent } from "@dnd-kit/core";
import { useId, useState, memo, type ReactNode, type SyntheticEvent } from "react";
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
  onMove: (task: Card, to: TaskStatus) => void;
  onOpen: (task: Card) => void;
}

/** Columns of cards. A card moves by dragging, by its menu and by keys: the same call. */
export function Board({ isLaned, ...rest }: BoardProps) {
  const [dragged, setDragged] = useState<Card | null>(null);
  const standings = useStandings();
  // A click is no drag: it begins after a few pixels, or on a touch screen after holding.
  const sensors = useSensors(useSensor(PointerSensor, { activationConstraint: { distance: 5 } }), useSensor(TouchSensor, { activationConstraint: { delay: 250, tolerance: 5 } }));
  const end = ({ over }: DragEndEvent) => {
    setDragged(null);
    if (dragged && over) rest.onMove(dragged, over.data.current as unknown as TaskStatus);
  };
  const Shown = isLaned ? Lanes : Columns;
  return (
    <DndContext
      sensors={sensors}
      onDragStart={({ active }) => setDragged((active.data.current as Card | undefined) ?? null)}
      onDragEnd={end}
      onDragCancel={() => setDragged(null)}
      accessibility={{ container: document.body }}
    >
      <Shown dragged={dragged} standings={standings} {...rest} />
      <DragOverlay dropAnimation={null}>{dragged && <CardOf task={dragged} registry={rest.registry} isLifted />}</DragOverlay>
    </DndContext>
  );
}

type ColumnsProps = Omit<BoardProps, "isLaned"> & { dragged: Card | null; standings: Standings; lane?: string; label?: string };

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

function Column({ status, lane, dragged, filter, moves, standings, registry, selected, onMove, onOpen }: ColumnProps) {
  const { isOver, setNodeRef } = useDroppable({ id: `${lane} ${status}`, data: status as unknown as Record<string, unknown>, disabled: dragged !== null && dragged.lane !== lane });
  const { tasks, total, loading, failure, more, reload } = useColumn(status, filter, lane, moves);
  const heading = useId();
  return (
    <section className={isOver ? "agent-lane over" : "agent-lane"} ref={setNodeRef} aria-labelledby={heading} data-column={status}>
      <h2 id={heading}>
        <TaskGlyph status={status} />
        {STATUS_WORDS[status]} <span className="muted">{loading ? "" : count(Math.max(total, tasks.length))}</span>
        {lane && <span className="unseen">of {lane}</span>}
      </h2>
      {failure && <Trouble failure={failure} retry={reload} />}
      {loading && <Ghost rows={4} />}
      {!loading && !failure && tasks.length === 0 && <p className="small muted agent-lane-none">Nothing here</p>}
      {tasks.length > 0 && (
        <Windowed className="agent-cards" label={STATUS_WORDS[status]} items={tasks} keyOf={(task) => task.id} heightOf={() => 92} measured end={tasks.length < total ? more : undefined}>
          {(task) => (
            <Draggable task={task}>
              <CardOf
                task={task}
                row={standings.rows.get(task.id)}
                doing={standings.atWork.get(task.id)}
                registry={registry}
                isSelected={selected === task.id}
                onOpen={() => onOpen(task)}
                onMove={(to) => onMove(task, to)}
              />
            </Draggable>
          )}
        </Windowed>
      )}
    </section>
  );
}

function Draggable({ task, children }: { task: Card; children: ReactNode }) {
  const { listeners, setNodeRef, isDragging } = useDraggable({ id: task.id, data: task });
  // What its dialogs are told bubbles up to it.
  const begin = (name: string) => (event: SyntheticEvent) => (event.target as Element).closest("dialog, [role=menu]") ?? listeners?.[name]?.(event);
  return (
    <div ref={setNodeRef} data-task={task.id} className={isDragging ? "dragging" : ""} onPointerDown={begin("onPointerDown")} onTouchStart={begin("onTouchStart")}>
      {children}
    </div>
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
  const to = (status: TaskStatus): MenuEntry => ({
    label: STATUS_WORDS[status],
    disabled: status === task.status,
    onSelect: () => onMove(status),
  });
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
