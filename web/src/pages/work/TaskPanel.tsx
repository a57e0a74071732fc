import { Tabs } from "../../parts/Tabs";
import { Absent, Loaded } from "../../parts/States";
import { Link } from "wouter";
import { navigate, withQuery } from "../../router/location";
import { Panel } from "../../shell/Panel";
import { TaskActions } from "./TaskActions";
import { TaskChips } from "./TaskChips";
import { taskTabs } from "./tabs";
import { useTask } from "./useTask";
import { closeTask } from "./walk";

/** The selected task beside the list. */
export default function TaskPanel({ id, tab }: { id: string; tab: string }) {
  const task = useTask(id);
  const page = task.data;
  return (
    <Panel
      label={`Task ${id}`}
      title={page?.task.title ?? id}
      href={`/work/${encodeURIComponent(id)}`}
      above={page ? <TaskChips page={page} /> : <span className="mono muted">{id}</span>}
      onClose={closeTask}
    >
      <Loaded
        of={task}
        absent={
          <Absent id={id}>
            <Link className="link" href={withQuery({ task: null, tab: null })}>
              Back to the tasks
            </Link>
          </Absent>
        }
      >
        {(data) => (
          <>
            <TaskActions page={data} />
            <Tabs label={`Parts of ${id}`} tabs={taskTabs(data)} value={tab} onChange={(to) => navigate(withQuery({ tab: to === "overview" ? null : to }), { replace: true })} />
          </>
        )}
      </Loaded>
    </Panel>
  );
}
