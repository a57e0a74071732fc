import { useState } from "react";
import type { TaskPage } from "../../../api/work";
import { Log } from "../../runs/Log";

/** What the agents of this task said while they worked, one attempt at a time. */
export function LogTab({ page }: { page: TaskPage }) {
  const logged = page.attempts.filter((attempt) => attempt.hasLog);
  const [chosen, setChosen] = useState<string | null>(null);
  const shown = logged.find((one) => `${one.run} ${one.attempt}` === chosen) ?? logged.at(-1);
  if (!shown) return null;
  const name = `${shown.run} ${shown.attempt}`;
  return (
    <div className="log-tab">
      <label className="row small">
        Attempt
        <select className="input" value={name} onChange={(event) => setChosen(event.target.value)}>
          {logged.map((one) => (
            <option key={`${one.run} ${one.attempt}`} value={`${one.run} ${one.attempt}`}>
              {one.attempt}, {one.runner ?? "runner unknown"}, {one.run}
            </option>
          ))}
        </select>
      </label>
      <Log key={name} run={shown.run} task={page.task.id} attempt={shown.attempt} />
    </div>
  );
}
