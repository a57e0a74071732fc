import { DndContext, DragOverlay, PointerSensor, TouchSensor, useDraggable, useDroppable, useSensor, useSensors, type DragEndEvent, type DragStartEvent } from "@dnd-kit/core";
import { useState, memo } from "react";
import { type Registry, Monogram } from "../../agents/agents";
import type { AgentTask, Row, TaskStatus } from "../../api/types";
import { noteOf } from "../work/rows";
import { count, useNow, exact } from "../../format";
import { Button } from "../../parts/Button";
import { STATUS_WORDS, dueWords, STATUSES, GLYPHS } from "./useTasks";
import { Menu, type MenuEntry } from "../../parts/Menu";
import { StatusGlyph } from "../../parts/StatusGlyph";

interface Column {
  status: TaskStatus;
  tasks: AgentTask[];
  /** How many there are, also those that are not listed; none when that is not known. */
  total: number | null;
  /** Has more of them listed, where that is possible. */
  more: (() => void) | null;
}

interface BoardProps {
  columns: Column[];
  registry: Registry;
  /** What runs know of tasks: those that failed, and those that agents work on. */
  marks: ReadonlyMap<string, Row>;
  selected: string | null;
  onMove: (task: AgentTask, to: TaskStatus) => void;
  onOpen: (task: AgentTask) => void;
}

/** Columns of cards. A card moves by dragging, by its menu and by keys: the same call. */
export function Board({ columns, ...rest }: BoardProps) {
  const [dragged, setDragged] = useState<AgentTask | null>(null);
  // A click is no drag: it begins after a few pixels, or on a touch screen after holding.
  const sensors = useSensors(useSensor(PointerSensor, { activationConstraint: { distance: 5 } }), useSensor(TouchSensor, { activationConstraint: { delay: 250, tolerance: 5 } }));
  const find = (id: string | number) => columns.flatMap((column) => column.tasks).find((task) => task.id === id);
  const start = ({ active }: DragStartEvent) => setDragged(find(active.id) ?? null);
  const end = ({ active, over }: DragEndEvent) => {
    setDragged(null);
    const task = find(active.id);
    if (task && over) rest.onMove(task, over.id as TaskStatus);
  };
  return (
    <DndContext sensors={sensors} onDragStart={start} onDragEnd={end} onDragCancel={() => setDragged(null)} accessibility={{ container: document.body }}>
      <div className="agent-board" style={{ "--columns": columns.length } as React.CSSProperties} tabIndex={0} role="group" aria-label="Board">
        {columns.map((column) => (
          <Lane key={column.status} column={column} {...rest} />
        ))}
      </div>
      <DragOverlay dropAnimation={null}>{dragged && <Card task={dragged} registry={rest.registry} isLifted />}</DragOverlay>
    </DndContext>
  );
}

/** How many cards of a column are added at once. */
const PAGE = 60;

type LaneProps = Omit<BoardProps, "columns"> & { column: Column };

function Lane({ column, ...rest }: LaneProps) {
  const { isOver, setNodeRef } = useDroppable({ id: column.status });
  const [most, setMost] = useState(PAGE);
  const heading = `column-${column.status}`;
  return (
    <section className={isOver ? "agent-lane over" : "agent-lane"} ref={setNodeRef} aria-labelledby={heading} data-column={column.status}>
      <h2 id={heading}>
        <TaskGlyph status={column.status} />
        {STATUS_WORDS[column.status]} <span className="muted">{counted(column)}</span>
      </h2>
      <ul>
        {column.tasks.slice(0, most).map((task) => (
          <DraggableCard key={task.id} task={task} {...rest} />
        ))}
      </ul>
      {column.tasks.length === 0 && <p className="small muted agent-lane-none">Nothing here</p>}
      <More column={column} shown={Math.min(most, column.tasks.length)} onMore={() => setMost(most + PAGE)} />
    </section>
  );
}

/** What stands below the cards that are shown when there are others. */
function More({ column, shown, onMore }: { column: Column; shown: number; onMore: () => void }) {
  const left = Math.max(column.total ?? 0, column.tasks.length) - shown;
  if (left <= 0) return null;
  if (shown === column.tasks.length && column.more === null) return <p className="small muted agent-lane-none">{count(left)} more; filter to see them.</p>;
  const show = () => {
    column.more?.();
    onMore();
  };
  return (
    <Button small look="ghost" onClick={show}>
      Show {count(Math.min(PAGE, left))} more
    </Button>
  );
}

/** How many cards a column has, also those that are not listed. */
function counted({ tasks, total }: Column): string {
  return count(Math.max(total ?? 0, tasks.length));
}

function DraggableCard({ task, registry, marks, selected, onMove, onOpen }: Omit<LaneProps, "column"> & { task: AgentTask }) {
  const { listeners, setNodeRef, isDragging } = useDraggable({ id: task.id });
  return (
    <li ref={setNodeRef} data-task={task.id} className={isDragging ? "dragging" : ""} {...listeners}>
      <Card task={task} mark={marks.get(task.id)} registry={registry} isSelected={selected === task.id} onOpen={() => onOpen(task)} onMove={(to) => onMove(task, to)} />
    </li>
  );
}

interface CardProps {
  task: AgentTask;
  mark?: Row | undefined;
  registry: Registry;
  isSelected?: boolean;
  /** It is being dragged: a picture of the card. */
  isLifted?: boolean;
  onOpen?: () => void;
  onMove?: (to: TaskStatus) => void;
}

const Card = memo(function Card({ task, mark, registry, isSelected, isLifted, onOpen, onMove }: CardProps) {
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
        {onMove && <MoveMenu task={task} onMove={onMove} />}
      </div>
      {mark && (mark.live || mark.state === "failed") && (
        <p className="row small">
          <StatusGlyph state={mark.state} />
          <span className={mark.state === "failed" ? "ell bad" : "ell muted"}>{noteOf(mark) || (mark.live ? "at work" : "the last attempt failed")}</span>
        </p>
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
    label: (
      <span className="row">
        <TaskGlyph status={status} />
        {STATUS_WORDS[status]}
      </span>
    ),
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
