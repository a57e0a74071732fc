import { lazy, Suspense, useState } from "react";
import { Button } from "../../parts/Button";
import { useKeys } from "../../shell/keys";

const RunDialog = lazy(() => import("../work/RunDialog"));

/** A step that did not come to its end gets another agent, in a run of its own. */
export function RunAgain({ task }: { task: string }) {
  const [open, setOpen] = useState(false);
  useKeys(`Step ${task}`, [{ keys: "R", does: "Run it again", run: () => setOpen(true) }]);
  return (
    <>
      <Button small icon="again" shortcut="R" onClick={() => setOpen(true)}>
        Run {task} again
      </Button>
      {open && (
        <Suspense fallback={null}>
          <RunDialog what={{ tasks: [task] }} name={task} line={`cleo run ${task}`} onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </>
  );
}
