// One task as a page: for a phone, a new tab, a link in a message.
import { Link } from "wouter";
import { navigate, useQuery, withQuery } from "../../router/location";
import { Fact, Rail } from "../../parts/Rail";
import { Loaded } from "../../parts/States";
import { STATE_WORDS } from "../../parts/state";
import { Tabs } from "../../parts/Tabs";
import { Icon } from "../../parts/Icon";
import { useKeys } from "../../shell/keys";
import { Page } from "../../shell/Page";
import { Unknown } from "../NotFound";
import type { TaskPage } from "../../api/work";
import type { ViewProps } from "../../routes";
import { TaskActions } from "./TaskActions";
import { useTask } from "./useTask";
import { taskTabs } from "./tabs";
import { statesOf } from "./tabs/GateList";
import "./work.css";

const CRUMB = { label: "Work", href: "/work" };

export default function Task({ params }: ViewProps) {
  const id = params["id"] ?? "";
  return <One key={id} id={id} />;
}

function One({ id }: { id: string }) {
  const task = useTask(id);
  const [tab, setTab] = useQuery("tab");
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
          {(page) => (
            <>
              <TaskActions page={page} />
              <h2 className="unseen">Parts of the task</h2>
              <Tabs label={`Parts of ${id}`} tabs={taskTabs(page)} value={tab ?? "overview"} onChange={(to) => setTab(to === "overview" ? null : to)} />
            </>
          )}
        </Loaded>
      </div>
    </Page>
  );
}

function TaskRail({ page }: { page: TaskPage | undefined }) {
  const required = page && statesOf(page.gates).filter((state) => state !== "optional").length;
  const passed = page?.gates.required.filter((name) => page.gates.gates[name]?.passed).length;
  const glyph = page && !(page.state === "done" && !page.verified) ? page.state : undefined;
  return (
    <Rail>
      <Fact label="Status" glyph={glyph} value={page && STATE_WORDS[page.state]} unit={page?.state === "done" && !page.verified ? "not verified" : undefined} />
      <Fact
        label="Gates"
        value={page && (page.gates.states === null ? "None" : `${passed} of ${required}`)}
        unit={page?.gates.states === null ? "tried" : "required"}
        href={withQuery({ tab: "evidence" })}
      />
      <Fact label="Waits for" value={page?.depends.filter((one) => one.state !== "done").length} unit={page && `of ${page.depends.length} open`} />
      <Fact label="Wave" value={page && (page.wave ?? "in a circle")} unit={page?.critical ? "critical path" : undefined} />
      <Fact label="Attempts" value={page?.attempts.length} />
    </Rail>
  );
}

function Walk({ position }: { position: TaskPage["position"] }) {
  return (
    <>
      {position.previous && (
        <Link className="button square ghost" href={`/work/${position.previous}`} aria-label={`Task before, ${position.previous}`} title="Task before">
          <Icon name="up" />
        </Link>
      )}
      {position.next && (
        <Link className="button square ghost" href={`/work/${position.next}`} aria-label={`Next task, ${position.next}`} title="Next task">
          <Icon name="down" />
        </Link>
      )}
    </>
  );
}
