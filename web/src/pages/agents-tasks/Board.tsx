import { DndContext, DragOverlay, PointerSensor, TouchSensor, useDraggable, useDroppable, useSensor, useSensors, type DragEndEvent, type DragStartEvent } from "@dnd-kit/core";
import { useState } from "react";
import type { Registry } from "../../agents/data";
import type { AgentTask, TaskStatus } from "../../agents/types";
import { count } from "../../format/numbers";
import { Button } from "../../parts/Button";
import { Card } from "./Card";
import { TaskGlyph } from "./TaskGlyph";
import { STATUS_WORDS } from "./words";

interface Column {
  status: TaskStatus;
  tasks: AgentTask[];
  /** How many there are, also those that are not listed; none when that is not known. */
  total: number | null;
}

interface Props {
  columns: Column[];
  /** How many more there are that are not listed. */
  hidden: number;
  registry: Registry;
  selected: string | null;
  onMove: (task: AgentTask, to: TaskStatus) => void;
  onOpen: (task: AgentTask) => void;
}

/** Columns of cards. A card moves by dragging, by its menu and by keys: the same call. */
export function Board({ columns, hidden, registry, selected, onMove, onOpen }: Props) {
  const [dragged, setDragged] = useState<AgentTask | null>(null);
  // A click is no drag: it begins after a few pixels, or on a touch screen after holding.
  const sensors = useSensors(useSensor(PointerSensor, { activationConstraint: { distance: 5 } }), useSensor(TouchSensor, { activationConstraint: { delay: 250, tolerance: 5 } }));
  const find = (id: string | number) => columns.flatMap((column) => column.tasks).find((task) => task.id === id);
  const start = ({ active }: DragStartEvent) => setDragged(find(active.id) ?? null);
  const end = ({ active, over }: DragEndEvent) => {
    setDragged(null);
    const task = find(active.id);
    if (task && over) onMove(task, over.id as TaskStatus);
  };
  return (
    <DndContext sensors={sensors} onDragStart={start} onDragEnd={end} onDragCancel={() => setDragged(null)} accessibility={{ container: document.body }}>
      <div className="agent-board" style={{ "--columns": columns.length } as React.CSSProperties} tabIndex={0} role="group" aria-label="Board">
        {columns.map((column) => (
          <Lane key={column.status} column={column} registry={registry} selected={selected} onMove={onMove} onOpen={onOpen} />
        ))}
      </div>
      {hidden > 0 && <p className="small muted agent-board-hidden">{`${hidden} more are not listed here; filter to see them.`}</p>}
      <DragOverlay dropAnimation={null}>{dragged && <Card task={dragged} registry={registry} isLifted />}</DragOverlay>
    </DndContext>
  );
}

/** How many cards of a column are added at once. */
const PAGE = 60;

type LaneProps = Omit<Props, "columns" | "hidden"> & { column: Column };

function Lane({ column, registry, selected, onMove, onOpen }: LaneProps) {
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
          <DraggableCard key={task.id} task={task} registry={registry} selected={selected} onMove={onMove} onOpen={onOpen} />
        ))}
      </ul>
      {column.tasks.length === 0 && <p className="small muted agent-lane-none">Nothing here</p>}
      {column.tasks.length > most && (
        <Button small look="ghost" onClick={() => setMost(most + PAGE)}>
          Show {Math.min(PAGE, column.tasks.length - most)} more
        </Button>
      )}
    </section>
  );
}

/** How many cards a column has; where not all are listed, of how many. */
function counted({ tasks, total }: Column): string {
  return total === null || total <= tasks.length ? String(tasks.length) : `${tasks.length} of ${count(total)}`;
}

function DraggableCard({ task, registry, selected, onMove, onOpen }: Omit<LaneProps, "column"> & { task: AgentTask }) {
  const { listeners, setNodeRef, isDragging } = useDraggable({ id: task.id });
  return (
    <li ref={setNodeRef} data-task={task.id} className={isDragging ? "dragging" : ""} {...listeners}>
      <Card task={task} registry={registry} isSelected={selected === task.id} onOpen={() => onOpen(task)} onMove={(to) => onMove(task, to)} />
    </li>
  );
}
