import { lazy, Suspense, useState } from "react";
import { Button } from "../../parts/Button";

const RunDialog = lazy(() => import("../work/RunDialog"));

/** A step that did not come to its end gets another agent, in a run of its own. */
export function RunAgain({ task }: { task: string }) {
  const [open, setOpen] = useState(false);
  return (
    <>
      <Button small icon="again" onClick={() => setOpen(true)}>Run {task} again</Button>
      {open && <Suspense fallback={null}><RunDialog what={{ tasks: [task] }} name={task} line={`cleo run ${task}`} onClose={() => setOpen(false)} /></Suspense>}
    </>
  );
}
