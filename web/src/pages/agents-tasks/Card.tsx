import { memo } from "react";
import type { Registry } from "../../agents/data";
import { Monogram } from "../../agents/Monogram";
import type { AgentTask, TaskStatus } from "../../agents/types";
import { useNow } from "../../format/clock";
import { exact } from "../../format/time";
import { Button } from "../../parts/Button";
import { Menu, type MenuEntry } from "../../parts/Menu";
import { StatusGlyph } from "../../parts/StatusGlyph";
import { TaskGlyph } from "./TaskGlyph";
import { dueWords, STATUS_WORDS, STATUSES } from "./words";

interface Props {
  task: AgentTask;
  registry: Registry;
  isSelected?: boolean;
  /** It is being dragged: a picture of the card. */
  isLifted?: boolean;
  onOpen?: () => void;
  onMove?: (to: TaskStatus) => void;
}

export const Card = memo(function Card({ task, registry, isSelected, isLifted, onOpen, onMove }: Props) {
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
      <div className="agent-card-facts">
        <span className="mono muted">{task.id}</span>
        {task.assigned_to === null ? (
          <span className="muted">nobody</span>
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
