import type { RunPage } from "../../api/runs";
import { Link } from "wouter";
import { sentence } from "../../parts/States";

/** The one thing to know about the run before anything else. */
export function RunNotice({ run }: { run: RunPage["run"] }) {
  if (run.status === "pending") return <p className="notice">Starts when a slot is free.</p>;
  if (run.status === "interrupted") return <p className="notice">Interrupted: the process that carried it out is gone. Resume goes on where it stopped.</p>;
  if (run.status === "cancelled" && !run.error?.task)
    return (
      <p className="notice">
        {sentence(run.error?.message ?? "cancelled")}
        {run.steps && " What is verified stays done, and Resume goes on with the rest."}
      </p>
    );
  if (!run.error) return null;
  return (
    <p className="notice bad">
      <span>
        {run.error.task && (
          <>
            <Link className="link" href={`?task=${encodeURIComponent(run.error.task)}`}>
              {run.error.task}
            </Link>
            :{" "}
          </>
        )}
        {sentence(run.error.message)}
      </span>
    </p>
  );
}
