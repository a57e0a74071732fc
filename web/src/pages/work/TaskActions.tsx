import { lazy, Suspense, useState } from "react";
import type { TaskPage } from "../../api/work";
import { Button } from "../../parts/Button";
import { copy } from "../../parts/copy";
import { Menu, type MenuEntry } from "../../parts/Menu";
import { Trouble } from "../../parts/States";
import { useKeys } from "../../shell/keys";
import { ACTS, useAct, type Act } from "./acts";

const DependencyDialog = lazy(() => import("./DependencyDialog"));
const GateDialog = lazy(() => import("./GateDialog"));

/** What can be done with the task now. A refusal stays in place, with what to do about it. */
export function TaskActions({ page }: { page: TaskPage }) {
  const { task, state, claim } = page;
  const { run, failure, busy, clear } = useAct(task.id);
  const fits = (Object.keys(ACTS) as Act[]).filter((name) => ACTS[name].from.includes(state) && claimFits(name, claim !== null));
  const first = fits.find((name) => name === "complete" || name === "start" || name === "reopen");
  const [asking, setAsking] = useState<"gate" | "dependency" | null>(null);
  const close = () => setAsking(null);
  const command = `cleo spawn ${task.id}`;
  useKeys(`Task ${task.id}`, [{ keys: "C", does: "Copy its command", run: () => copy(command, "command") }]);
  const entries: MenuEntry[] = [
    ...fits.filter((name) => name !== first && name !== "cancel").map((name): MenuEntry => ({ label: ACTS[name].label, onSelect: () => void run(name) })),
    { label: "Prove a gate", onSelect: () => setAsking("gate") },
    { label: "Add a dependency", onSelect: () => setAsking("dependency") },
    null,
    { label: "Copy the spawn command", icon: "copy", shortcut: "C", onSelect: () => copy(command, "command") },
    ...(fits.includes("cancel") ? [null, { label: ACTS.cancel.label, danger: true, onSelect: () => void run("cancel") }] : []),
  ];
  return (
    <div className="task-actions">
      <div className="row">
        {first && (
          <Button small disabled={busy} onClick={() => void run(first)}>
            {ACTS[first].label}
          </Button>
        )}
        <Menu label={`More for ${task.id}`} align="start" trigger={<Button small look="ghost" icon="more" aria-label={`More for ${task.id}`} />} entries={entries} />
      </div>
      <Suspense fallback={null}>
        {asking === "gate" && <GateDialog id={task.id} onClose={close} />}
        {asking === "dependency" && <DependencyDialog id={task.id} onClose={close} />}
      </Suspense>
      {failure && <Trouble failure={failure} retry={undefined} />}
      {failure && (
        <Button small look="ghost" onClick={clear}>
          Close the message
        </Button>
      )}
    </div>
  );
}

function claimFits(name: Act, claimed: boolean) {
  if (name === "claim") return !claimed;
  if (name === "release") return claimed;
  return true;
}
