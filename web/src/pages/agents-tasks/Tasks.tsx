import { useRef, useState } from "react";
import { useAgents } from "../../agents/data";
import type { AgentTask, TaskStatus } from "../../agents/types";
import { Button } from "../../parts/Button";
import { Command } from "../../parts/Command";
import { useFollowedFocus } from "../../parts/followed";
import { Empty, Ghost, sentence, Trouble } from "../../parts/States";
import { navigate, usePlace, withQuery } from "../../router/location";
import { useKeys } from "../../shell/keys";
import { Page } from "../../shell/Page";
import { Split } from "../../shell/Panel";
import { Board } from "./Board";
import { TaskFilters } from "./TaskFilters";
import { TaskPanel } from "./TaskPanel";
import { TasksRail } from "./TasksRail";
import { useTasks, type Refused } from "./useTasks";
import { beside, STATUSES } from "./words";
import "./tasks.css";

export default function Tasks() {
  const { query } = usePlace();
  const registry = useAgents();
  const chosen = (query.get("status") ?? "").split(",").filter((word): word is TaskStatus => STATUSES.includes(word as TaskStatus));
  const board = useTasks({ status: chosen, priority: query.get("priority"), agent: query.get("agent"), due: query.get("due"), q: query.get("q") });
  const id = query.get("task");
  const [part, setPart] = useState<string | null>(null);
  const opener = useRef<HTMLElement | null>(null);
  const open = (task: string | null, field: string | null = null) => {
    if (task !== null && document.activeElement instanceof HTMLElement) opener.current = document.activeElement;
    setPart(field);
    navigate(withQuery({ task }));
    if (task === null) requestAnimationFrame(() => opener.current?.focus());
  };
  const follow = useFollowedFocus(titleOf);
  const move = (task: AgentTask, to: TaskStatus) => {
    follow(task.id);
    board.move(task, to);
  };
  const focused = () => board.tasks.find((task) => task.id === document.activeElement?.closest("[data-task]")?.getAttribute("data-task"));
  const shift = (step: number) => {
    const task = focused();
    const to = task && beside(task.status, step);
    if (task && to) move(task, to);
  };
  const edit = (field: string) => {
    const task = focused();
    if (task) open(task.id, field);
  };
  useKeys("Tasks of agents", [
    { keys: "C", does: "New task", run: () => open("new") },
    { keys: "J|ArrowDown", does: "Next card", run: () => step(1) },
    { keys: "K|ArrowUp", does: "Card before", run: () => step(-1) },
    { keys: "ArrowRight", does: "Column to the right", run: () => aside(1) },
    { keys: "ArrowLeft", does: "Column to the left", run: () => aside(-1) },
    { keys: "Shift+ArrowRight", does: "Move the card to the right", run: () => shift(1) },
    { keys: "Shift+ArrowLeft", does: "Move the card to the left", run: () => shift(-1) },
    { keys: "A", does: "Assign", run: () => edit("agent") },
    { keys: "P", does: "Priority", run: () => edit("priority") },
    { keys: "D", does: "Due date", run: () => edit("due") },
    { keys: "/", does: "Find a task", run: () => document.getElementById("find-task")?.focus() },
    { keys: "Escape", does: "Close the panel", run: () => open(null) },
  ]);
  const task = board.tasks.find((one) => one.id === id);
  return (
    <Page
      title="Tasks"
      crumbs={[{ label: "Agents", href: "/agents" }]}
      actions={
        <Button look={id === "new" ? undefined : "primary"} icon="plus" shortcut="C" onClick={() => open("new")}>
          Task
        </Button>
      }
      rail={
        <div className="tasks-bars">
          <TasksRail stats={board.stats.data?.stats} />
          <TaskFilters agents={registry.agents} />
        </div>
      }
    >
      <Split panel={id !== null && <TaskPanel key={id} id={id} listed={task} part={part} agents={registry.agents} onMove={board.move} onClose={() => open(null)} onCreated={(made) => open(made)} />}>
        <div className="pane tasks-pane">
          {board.refused && <RefusedNotice refused={board.refused} onClose={board.forgive} />}
          <Content
            board={board}
            registry={registry}
            selected={id}
            onMove={move}
            onOpen={(one) => open(one.id)}
            onNew={() => open("new")}
            isFiltered={[...query.keys()].some((key) => key !== "task")}
          />
        </div>
      </Split>
    </Page>
  );
}

interface ContentProps {
  board: ReturnType<typeof useTasks>;
  registry: ReturnType<typeof useAgents>;
  selected: string | null;
  onMove: (task: AgentTask, to: TaskStatus) => void;
  onOpen: (task: AgentTask) => void;
  onNew: () => void;
  isFiltered: boolean;
}

function Content({ board, registry, selected, onMove, onOpen, onNew, isFiltered }: ContentProps) {
  if (board.failed?.failure) return <Trouble failure={board.failed.failure} retry={board.failed.reload} />;
  if (board.loading) return <Ghost rows={8} />;
  if (board.tasks.length === 0 && !isFiltered)
    return (
      <Empty command="cleo add 'Fix onboarding' --priority critical" action={<Button onClick={onNew}>New task</Button>}>
        No tasks yet. Create one and assign it to an agent.
      </Empty>
    );
  return <Board columns={board.columns} registry={registry} selected={selected} onMove={onMove} onOpen={onOpen} />;
}

/** Why a card went back to where it was. */
function RefusedNotice({ refused, onClose }: { refused: Refused; onClose: () => void }) {
  return (
    <div className="notice bad tasks-refused" role="alert">
      <span>
        <strong>{refused.task.id}</strong> stays where it was. {sentence(refused.failure.message)}
      </span>
      {refused.failure.fix && <Command line={refused.failure.fix} />}
      <Button look="ghost" small icon="close" aria-label="Close the message" onClick={onClose} />
    </div>
  );
}

/** What has the focus of a card on the board. */
function titleOf(id: string): HTMLElement | null {
  return document.querySelector<HTMLElement>(`.agent-board [data-task="${CSS.escape(id)}"] .agent-card-title`);
}

function cards(): HTMLElement[] {
  return [...document.querySelectorAll<HTMLElement>("[data-task] .agent-card-title")];
}

/** Goes to a card beside the one that has the focus, in reading order. */
function step(by: number) {
  const all = cards();
  const at = all.indexOf(document.activeElement as HTMLElement);
  all[Math.min(all.length - 1, Math.max(0, at < 0 ? 0 : at + by))]?.focus();
}

/** Goes to the nearest card of the column beside. */
function aside(by: number) {
  const here = document.activeElement?.closest("[data-task]");
  const columns = [...document.querySelectorAll<HTMLElement>("[data-column]")];
  const column = here?.closest("[data-column]");
  const at = columns.indexOf(column as HTMLElement);
  if (!here || at < 0) return step(0);
  const place = [...(column?.querySelectorAll("[data-task]") ?? [])].indexOf(here);
  for (let next = at + by; columns[next]; next += by) {
    const others = columns[next]?.querySelectorAll<HTMLElement>("[data-task] .agent-card-title");
    const other = others?.[Math.min(place, others.length - 1)];
    if (other) return other.focus();
  }
}
