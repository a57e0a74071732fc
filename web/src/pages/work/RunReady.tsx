import { useState } from "react";
import type { Rows } from "../../api/types";
import { useResource } from "../../api/resource";
import { Button } from "../../parts/Button";
import { later } from "../../parts/later";
import { useKeys } from "../../shell/keys";
import { useCommands } from "../../shell/places";

const RunDialog = later(() => import("./RunDialog"));

/** The one primary action of a page: agents for everything that can start now. */
export function RunReady({ epic, ready }: { epic: string | null; ready: number | undefined }) {
  const [open, setOpen] = useState(false);
  useKeys("Run", [{ keys: "R", does: "Run what is ready", run: () => setOpen(true) }]);
  const rows = useResource<Rows>(open && !epic ? "/api/work/rows?state=ready&sort=priority&limit=500" : null);
  const tasks = rows.data?.rows.map(({ id }) => id);
  const cli = epic ? `cleo run --epic ${epic}` : tasks && `cleo run ${tasks.join(" ")}`;
  useCommands("ready", [{ label: "Run what is ready", shortcut: "R", run: () => setOpen(true) }]);
  return (
    <>
      <Button look="primary" icon="play" onClick={() => setOpen(true)} disabled={ready === 0} title={ready === 0 ? "No task is ready" : undefined}>
        Run<span className="desk-only"> ready</span> {ready !== undefined && <span className="faded">{ready}</span>}
      </Button>
      {open && cli && <RunDialog what={epic ? { epic } : { tasks: tasks ?? [] }} name={epic ?? "what is ready"} line={cli} onClose={() => setOpen(false)} />}
    </>
  );
}
