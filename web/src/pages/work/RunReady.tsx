import { useState } from "react";
import { Button } from "../../parts/Button";
import { later } from "../../parts/later";
import { useKeys } from "../../shell/keys";
import { useCommands } from "../../shell/places";

const RunDialog = later(() => import("./RunDialog"));

/** The one primary action of a page: agents for everything that can start now. */
export function RunReady({ epic, ready }: { epic: string | null; ready: number | undefined }) {
  const [open, setOpen] = useState(false);
  useKeys("Run", [{ keys: "R", does: "Run what is ready", run: () => setOpen(true) }]);
  const { line } = wish(epic);
  useCommands("ready", [{ label: "Run what is ready", shortcut: "R", cli: line, run: () => setOpen(true) }]);
  return (
    <>
      <Button look="primary" icon="play" onClick={() => setOpen(true)} disabled={ready === 0} title={ready === 0 ? "No task is ready" : undefined}>
        Run<span className="desk-only"> ready</span> {ready !== undefined && <span className="faded">{ready}</span>}
      </Button>
      {open && <RunDialog {...wish(epic)} onClose={() => setOpen(false)} />}
    </>
  );
}

function wish(epic: string | null) {
  if (epic) return { what: { epic }, name: epic, line: `cleo run --epic ${epic}` };
  return { what: { allReady: true } as const, name: "what is ready", line: "cleo run --all-ready" };
}
