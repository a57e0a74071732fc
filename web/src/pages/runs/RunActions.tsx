import { useEffect, useState } from "react";
import { useAct } from "../../api/act";
import { api } from "../../api/request";
import { touch } from "../../api/resource";
import { isLive, type RunRow } from "../../api/runs";
import { Button } from "../../parts/Button";
import { copy } from "../../parts/copy";
import { Confirm, Dialog } from "../../parts/Dialog";
import { Menu } from "../../parts/Menu";
import { Trouble } from "../../parts/States";
import { navigate } from "../../router/location";
import { useKeys } from "../../shell/keys";
import { offer } from "../../shell/palette";
import { CompareDialog } from "./CompareDialog";
import { STATUS_WORDS } from "./RunLine";

/** Cancel asks first and says what stays; resume goes on. */
export function RunActions({ run }: { run: RunRow }) {
  const [asking, setAsking] = useState(false);
  const [comparing, setComparing] = useState(false);
  const live = isLive(run.status);
  const overTasks = run.kind === "epic" || run.kind === "tasks" || run.kind === "plan";
  const resumable = overTasks && (run.status === "interrupted" || run.status === "failed" || run.status === "cancelled");

  const {
    run: ask,
    failure,
    forgive,
  } = useAct(async (what: "cancel" | "resume") => {
    setAsking(false);
    await api.post(`/api/runs/${encodeURIComponent(run.id)}/${what}`);
    touch("/api/runs");
  });

  const command = `cleo runs show ${run.id}`;
  useKeys("This run", [{ keys: "C", does: "Copy its command", run: () => copy(command, "command") }]);
  useEffect(() => {
    offer("run", [
      ...(live ? [{ label: "Cancel this run", cli: `cleo runs cancel ${run.id}`, run: () => setAsking(true) }] : []),
      ...(overTasks ? [{ label: "Compare this run with another", run: () => setComparing(true) }] : []),
      { label: "Copy the command of this run", shortcut: "C", cli: command, run: () => copy(command, "command") },
    ]);
    return () => offer("run", []);
  }, [live, overTasks, run.id, command]);

  const report = `/api/runs/${encodeURIComponent(run.id)}/report`;
  return (
    <>
      {live && (
        <span className="row live strong">
          <i className="dot" />
          <span className="desk-only">{STATUS_WORDS[run.status]}</span>
        </span>
      )}
      {resumable && (
        <Button icon="play" look="primary" onClick={() => ask("resume")}>
          Resume
        </Button>
      )}
      {live && (
        <Button look="danger" icon="stop" onClick={() => setAsking(true)}>
          Cancel
        </Button>
      )}
      <Menu
        label="More for this run"
        trigger={<Button look="ghost" icon="more" aria-label="More for this run" />}
        entries={[
          ...(overTasks ? [{ label: "Compare with another run", onSelect: () => setComparing(true) }] : []),
          ...(overTasks ? [{ label: "Save the report", onSelect: () => window.location.assign(report) }] : []),
          { label: "Copy its command", icon: "copy" as const, shortcut: "C", onSelect: () => copy(command, "command") },
          { label: "All runs", onSelect: () => navigate("/runs") },
        ]}
      />
      {comparing && <CompareDialog run={run} onClose={() => setComparing(false)} />}
      {asking && (
        <Confirm title={`Cancel ${run.title}?`} action="Cancel the run" danger onConfirm={() => ask("cancel")} onClose={() => setAsking(false)}>
          <p>Agents that are at work are ended. What is verified stays done, everything else stays open{run.steps ? `: ${run.steps.done} of ${run.steps.total} are done` : ""}.</p>
        </Confirm>
      )}
      {failure && (
        <Dialog title="That was refused" onClose={forgive}>
          <Trouble failure={failure} />
        </Dialog>
      )}
    </>
  );
}
