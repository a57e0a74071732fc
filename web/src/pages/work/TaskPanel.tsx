import { Absent, Loaded } from "../../parts/States";
import { withQuery, TextLink, useQuery } from "../../router";
import { Panel } from "../../shell/Page";
import { closeTask } from "./selection";
import type { TaskPage } from "../../api/types";
import { Id } from "../../format";
import { StatusGlyph } from "../../parts/StatusGlyph";
import { type Tab, Tabs } from "../../parts/Tabs";
import { EvidenceTab } from "./tabs/EvidenceTab";
import { ManifestTab } from "./tabs/ManifestTab";
import { Overview } from "./tabs/Overview";
import { PromptTab } from "./tabs/PromptTab";
import { ReceiptTab } from "./tabs/ReceiptTab";
import { priorityWord } from "./rows";
import { useTask } from "./filters";
import TaskForm from "./TaskForm";
import { TaskActions } from "./TaskActions";

interface Props {
  id: string;
  /** The tab that is shown unless another is asked for. */
  first?: string;
  /** The field of the form that is gone to. */
  part?: string | null;
  back?: string;
  onClose?: () => void;
}

export default function TaskPanel({ id, first, part, back = "Back to the tasks", onClose = closeTask }: Props) {
  const task = useTask(id);
  const page = task.data;
  return (
    <Panel
      label={`Task ${id}`}
      title={page?.task.title ?? id}
      href={`/work/${encodeURIComponent(id)}`}
      above={page ? <TaskChips page={page} /> : <span className="mono muted">{id}</span>}
      onClose={onClose}
    >
      <Loaded of={task} absent={<Absent id={id} back={<TextLink href={withQuery({ task: null, tab: null })}>{back}</TextLink>} />}>
        {(data) => <TaskBody page={data} first={first} part={part} />}
      </Loaded>
    </Panel>
  );
}

/** The line over a task's title: state, id, and what sets it apart. */
function TaskChips({ page }: { page: TaskPage }) {
  const { task, state, verified, wave, critical } = page;
  return (
    <>
      <StatusGlyph state={state} verified={verified} still={!page.live} />
      <Id value={task.id} />
      {task.priority !== "medium" && <span className="chip">{priorityWord(task.priority)}</span>}
      {wave !== null && <span className="chip">wave {wave}</span>}
      {critical && <span className="chip">critical path</span>}
    </>
  );
}

/** What can be done with a task, and its tabs: the same in the panel and on its page. */
export function TaskBody({ page, first = "overview", part }: { page: TaskPage; first?: string | undefined; part?: string | null | undefined }) {
  const [tab, setTab] = useQuery("tab");
  const { id } = page.task;
  const spawned = page.spawns.length > 0;
  const tabs: Tab[] = [
    { id: "overview", label: "Overview", content: <Overview page={page} /> },
    { id: "edit", label: "Edit", content: <TaskForm key={id} task={page.task} part={part} /> },
    { id: "prompt", label: "Prompt", content: <PromptTab page={page} /> },
    { id: "receipt", label: "Receipt", content: <ReceiptTab id={id} spawned={spawned} /> },
    { id: "manifest", label: "Manifest", content: <ManifestTab id={id} spawned={spawned} /> },
    { id: "evidence", label: "Evidence", content: <EvidenceTab gates={page.gates} /> },
  ];
  return (
    <>
      <TaskActions page={page} />
      <h2 className="unseen">Parts of the task</h2>
      <Tabs label={`Parts of ${id}`} tabs={tabs} value={tab ?? first} onChange={(to) => setTab(to === first ? null : to)} />
    </>
  );
}
