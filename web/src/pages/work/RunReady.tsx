import { lazy, Suspense, useState } from "react";
import { Button } from "../../parts/Button";
import { useKeys } from "../../shell/keys";

const RunDialog = lazy(() => import("./RunDialog"));

/** The one primary action of the page: agents for everything that can start now. */
export function RunReady({ epic, ready }: { epic: string | null; ready: number | undefined }) {
  const [open, setOpen] = useState(false);
  useKeys("Run", [{ keys: "R", does: "Run what is ready", run: () => setOpen(true) }]);
  return (
    <>
      <Button look="primary" icon="play" onClick={() => setOpen(true)} disabled={ready === 0} title={ready === 0 ? "No task is ready" : undefined}>
        Run<span className="desk-only"> ready</span> {ready !== undefined && <span className="faded">{ready}</span>}
      </Button>
      {open && <Suspense fallback={null}><RunDialog epic={epic} onClose={() => setOpen(false)} /></Suspense>}
    </>
  );
}
