// What is done with all selected tasks: one call each, as the command line does it; what the server refuses is said in place.
import { useState } from "react";
import { Failure, api } from "../../api/request";
import { touch } from "../../api/resource";
import { count, plural } from "../../format";
import { Button } from "../../parts/Button";
import { Confirm, FormDialog } from "../../parts/Dialog";
import { useDraft } from "../../parts/draft";
import { Menu } from "../../parts/Menu";
import { sentence, Refusal } from "../../parts/States";
import { toast } from "../../parts/toasts";
import { ACTS, UNDOABLE, priorityWord, undo, type Act } from "./rows";
import { clearMarks, useMarks, useSeen } from "./selection";
import { Field } from "../../parts/Field";

const PRIORITIES = ["critical", "high", "medium", "low"];

interface Refused {
  id: string;
  failure: Failure;
}

type Deed = (id: string) => Promise<{ operation: number | null }>;

export default function BulkBar() {
  const marked = useMarks((marks) => marks.ids);
  const tasks = useSeen((seen) => seen.tasks).filter((task) => marked.has(task.id));
  const [refused, setRefused] = useState<Refused[]>([]);
  const [busy, setBusy] = useState(false);
  const [asking, setAsking] = useState<"assign" | "cancel" | null>(null);
  const ids = tasks.map((task) => task.id);
  const fitting = (act: Act) => tasks.filter((task) => ACTS[act].from.includes(task.state)).map((task) => task.id);

  async function each(of: string[], done: string, deed: Deed, undoable = true) {
    setAsking(null);
    setBusy(true);
    const { operations, failed } = await doneWith(of, deed);
    setRefused(failed);
    setBusy(false);
    touch("/api/work/");
    const back = undoable && operations.length > 0 ? { label: "Undo", run: () => void undo(...operations.reverse()) } : undefined;
    if (of.length > failed.length) toast(`${plural(of.length - failed.length, "task")} ${done}.`, back);
  }
  const act = (what: Act) => void each(fitting(what), ACTS[what].done, (id) => api.post(at(id, what)), UNDOABLE.includes(what));
  const change = (fields: object) => void each(ids, "changed", (id) => api.patch(at(id), fields));
  const verb = (what: Act) => ({ label: `${ACTS[what].label} (${count(fitting(what).length)})`, disabled: fitting(what).length === 0, onSelect: () => act(what) });

  return (
    <section className="bulk" aria-label="Selected tasks">
      {refused.length > 0 && (
        <Refusal failure={null} onClose={() => setRefused([])}>
          <ul>
            {refused.slice(0, 5).map(({ id, failure }) => (
              <li key={id}>
                {id} stays as it is: {sentence(failure.message)}
              </li>
            ))}
            {refused.length > 5 && <li>{plural(refused.length - 5, "more task")} likewise.</li>}
          </ul>
        </Refusal>
      )}
      <div className="row wrap">
        <strong className="grow" role="status">
          {plural(tasks.length, "task")} selected
        </strong>
        {(["start", "complete"] as const).map((what) => (
          <Button key={what} small disabled={busy || fitting(what).length === 0} onClick={() => act(what)}>
            {ACTS[what].label} {count(fitting(what).length)}
          </Button>
        ))}
        <Button small disabled={busy || ids.length === 0} onClick={() => setAsking("assign")}>
          Assign
        </Button>
        <Menu
          label="More for the selected tasks"
          trigger={<Button small icon="more" aria-label="More for the selected tasks" disabled={busy || ids.length === 0} />}
          entries={[
            verb("claim"),
            verb("release"),
            verb("reopen"),
            "Priority",
            ...PRIORITIES.map((priority) => ({ label: priorityWord(priority), onSelect: () => change({ priority }) })),
            null,
            { ...verb("cancel"), danger: true, onSelect: () => setAsking("cancel") },
          ]}
        />
        <Button small look="ghost" onClick={clearMarks}>
          Done
        </Button>
      </div>
      {asking === "assign" && <AssignDialog of={ids.length} onAssign={(assignedAgent) => change({ assignedAgent })} onClose={() => setAsking(null)} />}
      {asking === "cancel" && (
        <Confirm title={`Cancel ${plural(fitting("cancel").length, "task")}?`} action="Cancel the tasks" danger act={() => act("cancel")} onClose={() => setAsking(null)}>
          <p>What depends on them cannot start until that is changed.</p>
        </Confirm>
      )}
    </section>
  );
}

function at(id: string, what = "") {
  return `/api/work/tasks/${encodeURIComponent(id)}${what && `/${what}`}`;
}

/** One after the other, so that each sees what the one before came to. */
async function doneWith(ids: string[], deed: Deed) {
  const operations: number[] = [];
  const failed: Refused[] = [];
  for (const id of ids) {
    try {
      const { operation } = await deed(id);
      if (operation !== null) operations.push(operation);
    } catch (fault) {
      failed.push({ id, failure: Failure.from(fault) });
    }
  }
  return { operations, failed };
}

function AssignDialog({ of, onAssign, onClose }: { of: number; onAssign: (agent: string) => void; onClose: () => void }) {
  const [agent, setAgent] = useDraft("assign");
  const assign = () => {
    setAgent("");
    onAssign(agent.trim());
  };
  return (
    <FormDialog title={`Assign ${plural(of, "task")}`} action="Assign" disabled={agent.trim() === ""} act={assign} onClose={onClose}>
      <Field label="Agent" value={agent} maxLength={100} required data-first onText={setAgent} hint="A name, as in `cleo update --agent`. Who works on a task is said by its claim." />
    </FormDialog>
  );
}
