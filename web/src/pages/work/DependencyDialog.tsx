import { useState, type FormEvent } from "react";
import { useAct } from "../../api/act";
import { api, path } from "../../api/request";
import { touch, useResource } from "../../api/resource";
import { Button } from "../../parts/Button";
import { Dialog } from "../../parts/Dialog";
import { Trouble } from "../../parts/States";

/** Makes a task wait for another one. The server refuses circles. */
export default function DependencyDialog({ id, onClose }: { id: string; onClose: () => void }) {
  const [text, setText] = useState("");
  const found = useResource<{ items: { id: string; title: string }[] }>(path("/api/search", { q: text.trim(), kinds: "task", limit: 20 }), { keep: true });

  const { run, failure } = useAct(async (event: FormEvent) => {
    event.preventDefault();
    await api.patch(`/api/work/tasks/${encodeURIComponent(id)}`, { addDepends: [text.trim()] });
    touch("/api/work/");
    onClose();
  });

  return (
    <Dialog title={`What does ${id} wait for?`} onClose={onClose}>
      <form className="filter-form" onSubmit={run}>
        <div className="field">
          <label htmlFor="dependency">Id of the task</label>
          <input
            id="dependency"
            className="input mono"
            list="dependency-found"
            value={text}
            maxLength={200}
            data-first
            onChange={(event) => setText(event.target.value)}
            aria-invalid={failure !== null}
          />
          <datalist id="dependency-found">
            {(found.data?.items ?? [])
              .filter((item) => item.id !== id)
              .map((item) => (
                <option key={item.id} value={item.id}>
                  {item.title}
                </option>
              ))}
          </datalist>
        </div>
        {failure && <Trouble failure={failure} />}
        <footer>
          <Button onClick={onClose}>Close</Button>
          <Button look="primary" type="submit" disabled={text.trim() === ""}>
            Add
          </Button>
        </footer>
      </form>
    </Dialog>
  );
}
