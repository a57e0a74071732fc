import { useState } from "react";
import { useAct, useResource } from "../../api/resource";
import { api } from "../../api/request";
import type { RunRow } from "../../api/types";
import { plural } from "../../format";
import { Button, Command } from "../../parts/Button";
import { Dialog } from "../../parts/Dialog";
import { Field } from "../../parts/Field";
import { Trouble, Loaded } from "../../parts/States";
import { navigate } from "../../router";

interface Preview {
  tasks: { taskId: string; title: string; wave: number | null; skill: string | null; runner: string | null; model: string | null }[];
  total: number;
}

interface Props {
  what: { epic: string } | { tasks: string[] };
  name: string;
  /** The command that does the same. */
  line: string;
  onClose: () => void;
}

const RUNNERS = ["claude", "codex", "gemini", "opencode", "copilot"];

/** Shows what would be run, by whom, before anything is started. */
export default function RunDialog({ what, name, line, onClose }: Props) {
  const [runner, setRunner] = useState("");
  const wish = { ...what, ...(runner !== "" && { runner }) };
  const preview = useResource<Preview>("/api/runs", { body: JSON.stringify({ ...wish, dryRun: true }) });

  const [run, { busy, failure }] = useAct(async () => {
    const { run } = await api.post<{ run: RunRow }>("/api/runs", wish);
    navigate(`/runs/${run.id}`);
  });
  return (
    <Dialog title={`Run ${name}`} onClose={onClose} wide>
      <Loaded of={preview} rows={3}>
        {({ tasks, total }) => (
          <ul className="previewed" tabIndex={0} aria-label="What would be run">
            {tasks.slice(0, 100).map((task) => (
              <li key={task.taskId} className="row">
                <span className="mono muted">{task.taskId}</span>
                <span className="grow ell">{task.title}</span>
                <span className="small muted ell">{[task.skill, task.runner].filter(Boolean).join(", ")}</span>
              </li>
            ))}
            {total > 100 && <li className="small muted">{total - 100} more</li>}
          </ul>
        )}
      </Loaded>
      {failure && <Trouble failure={failure} />}
      <Field label="Agents" value={runner} onText={setRunner} options={[{ value: "", label: "As in the settings" }, ...RUNNERS]} />
      <Command line={runner === "" ? line : `${line} --runner ${runner}`} />
      <footer>
        <Button onClick={onClose}>Close</Button>
        <Button key={String(preview.data !== undefined)} autoFocus look="primary" icon="play" disabled={busy || !preview.data || preview.data.total === 0} onClick={run}>
          {preview.data ? `Run ${plural(preview.data.total, "task")}` : "Run"}
        </Button>
      </footer>
    </Dialog>
  );
}
