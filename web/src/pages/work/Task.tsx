// One task as a page: for a phone, a new tab, a link in a message.
import { navigate, withQuery, Link } from "../../router";
import { Fact, Rail, StateFact } from "../../parts/Facts";
import { Loaded } from "../../parts/States";
import { Icon } from "../../parts/Icon";
import { useKeys } from "../../shell/keys";
import { Page, Unknown } from "../../shell/Page";
import type { TaskPage } from "../../api/types";
import type { ViewProps } from "../../routes";
import { TaskBody } from "./TaskPanel";
import { useTask } from "./filters";
import { countGates } from "./tabs/EvidenceTab";
import "./work.css";

const CRUMB = { label: "Work", href: "/work" };

export default function Task({ params }: ViewProps) {
  const id = params["id"] ?? "";
  return <One key={id} id={id} />;
}

function One({ id }: { id: string }) {
  const task = useTask(id);
  const position = task.data?.position;
  useKeys("Task", [
    { keys: "J|ArrowDown", does: "Next task", run: () => position?.next && navigate(`/work/${position.next}`) },
    { keys: "K|ArrowUp", does: "Task before", run: () => position?.previous && navigate(`/work/${position.previous}`) },
    { keys: "Escape", does: "Back to the work", run: () => navigate(`/work?task=${encodeURIComponent(id)}`) },
  ]);
  if (task.failure?.status === 404) return <Unknown id={id} crumb={CRUMB} />;
  return (
    <Page title={task.data?.task.title ?? id} id={id} crumbs={[CRUMB]} actions={position && <Walk position={position} />} rail={<TaskRail page={task.data} />}>
      <div className="task-page pane">
        <Loaded of={task} rows={10}>
          {(page) => <TaskBody page={page} />}
        </Loaded>
      </div>
    </Page>
  );
}

function TaskRail({ page }: { page: TaskPage | undefined }) {
  const gates = page && countGates(page.gates);
  return (
    <Rail>
      <StateFact label="Status" page={page} />
      <Fact
        label="Gates"
        value={page && (page.gates.states === null ? "None" : `${gates?.passed} of ${gates?.required}`)}
        unit={page?.gates.states === null ? "tried" : "required"}
        href={withQuery({ tab: "evidence" })}
      />
      <Fact label="Waits for" value={page?.depends.filter((one) => one.state !== "done").length} unit={page && `of ${page.depends.length} open`} />
      {page && page.children.length > 0 ? (
        <Fact label="Parts" value={page.children.filter((one) => one.state === "done").length} unit={`of ${page.children.length} done`} href={`/work?epic=${page.task.id}`} />
      ) : (
        page?.task.type !== "epic" && <Fact label="Wave" value={page && (page.wave ?? "in a circle")} unit={page?.critical ? "critical path" : undefined} />
      )}
      <Fact label="Attempts" value={page?.attempts.length} />
    </Rail>
  );
}

function Walk({ position: { previous, next } }: { position: TaskPage["position"] }) {
  const ways = [
    { id: previous, name: "Task before", icon: "up" },
    { id: next, name: "Next task", icon: "down" },
  ] as const;
  return ways.map(
    ({ id, name, icon }) =>
      id && (
        <Link key={name} className="button square ghost" href={`/work/${id}`} aria-label={`${name}, ${id}`} title={name}>
          <Icon name={icon} />
        </Link>
      ),
  );
}
