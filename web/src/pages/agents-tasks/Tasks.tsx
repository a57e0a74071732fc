import { useEffect, useRef, useState } from "react";
import { useAgents } from "../../agents/agents";
import type { TaskStatus, TaskStats } from "../../api/types";
import { path } from "../../api/request";
import { useResource } from "../../api/resource";
import { Button } from "../../parts/Button";
import { useFollowedFocus } from "../../parts/followed";
import { Empty, sentence, Trouble, Refusal } from "../../parts/States";
import { navigate, usePlace, withQuery, useQuery } from "../../router";
import { useKeys } from "../../shell/keys";
import { Page, Panel, Split } from "../../shell/Page";
import { Board, TaskGlyph } from "./Board";
import { useMoves, isOfTasks, beside, STATUSES, COLUMNS, STATUS_WORDS, DUE_WORDS, DUES, PRIORITIES, type Card } from "./useTasks";
import { count, percent } from "../../format";
import { Fact, Rail } from "../../parts/Facts";
import { Filters, type FilterOf } from "../../parts/Filters";
import { later } from "../../parts/later";
import { code } from "../../routes";
import "./tasks.css";

const TaskForm = later(() => import("../work/TaskForm"));
const panelPart = code(() => import("../work/TaskPanel"));
const TaskPanel = later(panelPart);

export default function Tasks() {
  const { query } = usePlace();
  const registry = useAgents();
  const chosen = (query.get("status") ?? "").split(",").filter((word): word is TaskStatus => STATUSES.includes(word as TaskStatus));
  const columns = chosen.length > 0 ? chosen : COLUMNS;
  const agent = query.get("agent");
  const filter = { priority: query.get("priority"), agent, due: query.get("due"), q: query.get("q") };
  const moves = useMoves();
  const [laned, setLaned] = useQuery("group");
  const stats = useResource<{ stats: TaskStats }>(path("/api/tasks/stats", { agent }), { on: isOfTasks });
  const id = query.get("task");
  const [part, setPart] = useState<string | null>(null);
  const opener = useRef<HTMLElement | null>(null);
  const open = (task: string | null, field: string | null = null) => {
    if (task !== null && document.activeElement instanceof HTMLElement) opener.current = document.activeElement;
    setPart(field);
    navigate(withQuery({ task, tab: null }));
    if (task === null) requestAnimationFrame(() => opener.current?.focus());
  };
  // What a new task opens with is there when it is created.
  useEffect(() => void (id === "new" && panelPart.load()), [id]);
  const follow = useFollowedFocus(titleOf);
  const move = (task: Card, to: TaskStatus, lane?: string) => {
    follow(task.id);
    moves.move(task, to, lane);
  };
  const focused = () => moves.known.get(document.activeElement?.closest("[data-task]")?.getAttribute("data-task") ?? "");
  const shift = (step: number) => {
    const task = focused();
    const to = task && beside(task.status, step);
    if (task && to) move(task, to);
  };
  const edit = (field: string) => {
    const task = focused();
    if (task) open(task.id, field);
  };
  const lane = () => setLaned(laned ? null : "epic");
  const filters: FilterOf[] = [
    { several: true, name: "status", label: "Status", values: STATUSES.map((value) => ({ value, label: STATUS_WORDS[value] })) },
    { several: true, name: "priority", label: "Priority", values: PRIORITIES.map((value) => ({ value, label: value })) },
    { name: "agent", label: "Agent", values: registry.agents.map(({ id, name }) => ({ value: id, label: name })) },
    { name: "due", label: "Due", values: DUES.map((value) => ({ value, label: DUE_WORDS[value] })) },
  ];
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
    { keys: "E", does: "Lanes by epic", run: lane },
    { keys: "Escape", does: "Close the panel", run: () => open(null) },
  ]);
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
        <div className="head-bars">
          <TasksRail stats={stats.data?.stats} />
          <Filters what="task" filters={filters}>
            <Button aria-pressed={laned === "epic"} shortcut="E" onClick={lane}>
              By epic
            </Button>
          </Filters>
        </div>
      }
    >
      <Split
        panel={
          id === "new" ? (
            <Panel label="New task" title="New task" onClose={() => open(null)}>
              <TaskForm task={null} onClose={() => open(null)} onCreated={open} />
            </Panel>
          ) : (
            id !== null && <TaskPanel key={id} id={id} first="edit" part={part} back="Back to the board" onClose={() => open(null)} />
          )
        }
      >
        <div className="pane tasks-pane">
          {moves.refused && (
            <Refusal failure={moves.refused.failure} onClose={moves.forgive}>
              <strong>{moves.refused.task.id}</strong> stays where it was. {sentence(moves.refused.failure.message)}
            </Refusal>
          )}
          {stats.failure && !stats.data ? (
            <Trouble failure={stats.failure} retry={stats.reload} />
          ) : stats.data?.stats.total === 0 && agent === null ? (
            <Empty command="cleo add 'Fix onboarding' --priority critical" action={<Button onClick={() => open("new")}>New task</Button>}>
              No tasks yet. Create one and assign it to an agent.
            </Empty>
          ) : (
            <Board columns={columns} isLaned={laned === "epic"} filter={filter} moves={moves} registry={registry} selected={id} onMove={move} onOpen={(one) => open(one.id)} />
          )}
        </div>
      </Split>
    </Page>
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

/** How the tasks stand; each number filters the board. */
function TasksRail({ stats }: { stats: TaskStats | undefined }) {
  return (
    <Rail>
      <Fact label="Total" value={stats && count(stats.total)} href={withQuery({ status: null, due: null })} title="All tasks that are not archived" />
      {COLUMNS.map((status) => (
        <Fact
          key={status}
          label={STATUS_WORDS[status]}
          value={
            stats && (
              <>
                <TaskGlyph status={status} />
                {count(stats.byStatus[status])}
              </>
            )
          }
          href={withQuery({ status })}
        />
      ))}
      <Fact label="Overdue" value={stats && count(stats.overdue)} href={withQuery({ due: "overdue" })} title="Open and due before now" />
      <Fact label="Done rate" value={stats && percent(stats.byStatus.done, stats.total - stats.byStatus.cancelled)} title="Done of all that were not cancelled" />
    </Rail>
  );
}
