import { useState } from "react";
import { api } from "../../api/request";
import { touch } from "../../api/resource";
import { Button } from "../../parts/Button";
import { Confirm } from "../../parts/Dialog";
import { later } from "../../parts/later";
import type { State } from "../../parts/StatusGlyph";
import { Link } from "../../router";
import { useKeys } from "../../shell/keys";
import { Offer } from "../../shell/places";

const RunDialog = later(() => import("./RunDialog"));

interface Props {
  id: string;
  state: State;
  /** The run that works on it. */
  run: string | null | undefined;
  /** Whether an agent has tried it. */
  tried: boolean;
  /** Whether this is what its page is about: then keys and the palette have it, too. */
  main?: boolean;
  /** Whether another button of the page is the primary one. */
  plain?: boolean;
}

/** Runs a task, shows its run or ends that, as its state allows: the same on its page and on its card. */
export function RunButtons({ id, state, run, tried, main = false, plain = false }: Props) {
  const [asking, setAsking] = useState<"run" | "stop" | null>(null);
  const label = tried ? "Run again" : "Run";
  const line = `cleo run ${id}`;
  // On a card there is room for pictures only.
  const name = (words: string) => (main ? undefined : words);
  const runnable = !run && ["ready", "failed", "paused"].includes(state);
  useKeys(`Run of ${id}`, main && runnable ? [{ keys: "R", does: `${label} ${id}`, run: () => setAsking("run") }] : []);
  return (
    <>
      {main && run && <Offer part={`run ${id}`} commands={[{ label: `Stop ${id}`, cli: `cleo runs stop ${run} ${id}`, run: () => setAsking("stop") }]} />}
      {runnable && (
        <Button small look={plain ? undefined : main ? "primary" : "ghost"} icon="play" aria-label={name(`${label} ${id}`)} onClick={() => setAsking("run")}>
          {main ? label : undefined}
        </Button>
      )}
      {run && main && (
        <Link className="button small" href={`/runs/${encodeURIComponent(run)}?task=${id}`}>
          Watch
        </Link>
      )}
      {run && (
        <Button small look={main ? "danger" : "ghost"} icon="stop" aria-label={name(`Stop ${id}`)} onClick={() => setAsking("stop")}>
          {main ? "Stop" : undefined}
        </Button>
      )}
      {asking === "run" && <RunDialog what={{ tasks: [id] }} name={id} line={line} onClose={() => setAsking(null)} />}
      {asking === "stop" && run && <StopDialog run={run} task={id} onClose={() => setAsking(null)} />}
    </>
  );
}

/** Stops a run as a whole, or only the agent of one task. */
export function StopDialog({ run, task, title = "its run", onClose }: { run: string; task?: string; title?: string; onClose: () => void }) {
  const [only, setOnly] = useState(task !== undefined);
  const stop = async () => {
    await api.post(`/api/runs/${encodeURIComponent(run)}${only ? `/tasks/${task}/stop` : "/cancel"}`);
    touch("/api/");
  };
  return (
    <Confirm title={`Stop ${task ?? title}?`} action={only ? "Stop only this task" : "Stop the run"} danger act={stop} onClose={onClose}>
      {task && (
        <label className="check">
          <input type="checkbox" checked={!only} onChange={(event) => setOnly(!event.target.checked)} />
          Stop the whole run
        </label>
      )}
      <p>
        {only
          ? "Its agent is ended, and what depends on it is skipped. What it changed stays, and the others of the run work on."
          : "All agents of the run are ended, also those of other tasks. What is verified stays done, and Resume continues with the rest."}
      </p>
    </Confirm>
  );
}
