import { useState } from "react";
import { useAct, touch, useResource } from "../../api/resource";
import { api, path, useConnection } from "../../api/request";
import { isLive, type RunRow, type RunsList } from "../../api/types";
import { Button } from "../../parts/Button";
import { copy } from "../../parts/toasts";
import { Dialog } from "../../parts/Dialog";
import { Menu } from "../../parts/Menu";
import { Trouble, Empty, Loaded } from "../../parts/States";
import { navigate, Link } from "../../router";
import { useKeys } from "../../shell/keys";
import { STATUS_WORDS, RunGlyph } from "./RunLine";
import { At } from "../../format";
import { useCommands } from "../../shell/places";
import { StopDialog } from "../work/RunButtons";

/** Cancel asks first and says what stays; resume does not ask. */
export function RunActions({ run }: { run: RunRow }) {
  const [asking, setAsking] = useState(false);
  const [comparing, setComparing] = useState(false);
  const live = isLive(run.status);
  const reachable = useConnection((connection) => connection.reachable);
  const overTasks = run.kind === "epic" || run.kind === "tasks" || run.kind === "plan";
  const resumable = overTasks && (run.status === "interrupted" || run.status === "failed" || run.status === "cancelled");

  const [resume, { failure, forgive }] = useAct(async () => {
    await api.post(`/api/runs/${encodeURIComponent(run.id)}/resume`);
    touch("/api/runs");
  });

  const command = `cleo runs show ${run.id}`;
  useKeys("This run", [{ keys: "C", does: "Copy its command", run: () => copy(command, "command") }]);
  const report = `/api/runs/${encodeURIComponent(run.id)}/report`;
  useCommands("run", [
    ...(live ? [{ label: "Stop this run", cli: `cleo runs cancel ${run.id}`, run: () => setAsking(true) }] : []),
    ...(resumable ? [{ label: "Resume this run", cli: `cleo runs resume ${run.id}`, run: resume }] : []),
  ]);
  return (
    <>
      {live && reachable && (
        <span className="row live strong">
          <i className="dot" />
          <span className="desk-only">{STATUS_WORDS[run.status]}</span>
        </span>
      )}
      {resumable && (
        <Button icon="play" look="primary" onClick={resume}>
          Resume
        </Button>
      )}
      {live && (
        <Button look="danger" icon="stop" onClick={() => setAsking(true)}>
          Stop
        </Button>
      )}
      <Menu
        label="More for this run"
        offer="this run"
        trigger={<Button look="ghost" icon="more" aria-label="More for this run" />}
        entries={[
          ...(overTasks ? [{ label: "Compare with another run", onSelect: () => setComparing(true) }] : []),
          ...(overTasks ? [{ label: "Save the report", onSelect: () => window.location.assign(report) }] : []),
          { label: "Copy its command", icon: "copy" as const, shortcut: "C", onSelect: () => copy(command, "command") },
          { label: "All runs", onSelect: () => navigate("/runs") },
        ]}
      />
      {comparing && <CompareDialog run={run} onClose={() => setComparing(false)} />}
      {asking && <StopDialog run={run.id} title={run.title} onClose={() => setAsking(false)} />}
      {failure && (
        <Dialog title="That was refused" onClose={forgive}>
          <Trouble failure={failure} />
        </Dialog>
      )}
    </>
  );
}

/** Asks which run of the same kind this one is compared with. */
function CompareDialog({ run, onClose }: { run: RunRow; onClose: () => void }) {
  const runs = useResource<RunsList>(path("/api/runs", { kind: run.kind, limit: 50 }));
  return (
    <Dialog title="Compare with which run?" onClose={onClose} wide>
      <Loaded of={runs} rows={4}>
        {({ runs: all }) => {
          const others = all.filter((one) => one.id !== run.id);
          if (others.length === 0) return <Empty>There is no other run of this kind yet.</Empty>;
          return (
            <ul className="previewed" tabIndex={0} aria-label="Other runs, newest first">
              {others.map((one) => (
                <li key={one.id}>
                  <Link className="row link-row" href={`/runs/${encodeURIComponent(run.id)}?compare=${encodeURIComponent(one.id)}`} onClick={onClose}>
                    <RunGlyph run={one} />
                    <span className="grow ell">{one.title}</span>
                    <span className="small muted">{one.steps ? `${one.steps.done} of ${one.steps.total}` : ""}</span>
                    <At at={one.startedAt} />
                  </Link>
                </li>
              ))}
            </ul>
          );
        }}
      </Loaded>
    </Dialog>
  );
}
