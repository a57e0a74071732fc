import { useState, type FormEvent } from "react";
import { useAct } from "../../api/act";
import { api } from "../../api/request";
import { touch } from "../../api/resource";
import { GATE_NAMES, type GateName } from "../../api/work";
import { Button } from "../../parts/Button";
import { Command } from "../../parts/Command";
import { Dialog } from "../../parts/Dialog";
import { Trouble } from "../../parts/States";

const KINDS = [
  { id: "run", label: "A command that cleo runs", hint: "Words with spaces between; no shell reads them." },
  { id: "files", label: "Files", hint: "Paths with commas between." },
  { id: "commits", label: "A commit", hint: "Its hash or name." },
  { id: "urls", label: "An address", hint: "Where the proof can be read." },
  { id: "notes", label: "A note", hint: "Words alone; they are marked as words alone." },
] as const;
type Kind = (typeof KINDS)[number]["id"];

/** Brings evidence for a gate. A command that fails is an answer too: the gate is then failed. */
export default function GateDialog({ id, onClose }: { id: string; onClose: () => void }) {
  const [gate, setGate] = useState<GateName>("implemented");
  const [kind, setKind] = useState<Kind>("run");
  const [text, setText] = useState("");
  const chosen = KINDS.find((one) => one.id === kind);

  const { run, busy, failure } = useAct(async (event: FormEvent) => {
    event.preventDefault();
    await api.post(`/api/work/tasks/${encodeURIComponent(id)}/gates/${gate}`, { [kind]: valuesOf(kind, text) });
    touch("/api/work/");
    onClose();
  });

  return (
    <Dialog title={`Prove a gate of ${id}`} onClose={onClose}>
      <form className="filter-form" onSubmit={run}>
        <div className="field">
          <label htmlFor="gate">Gate</label>
          <select id="gate" className="input" value={gate} onChange={(event) => setGate(event.target.value as GateName)}>
            {GATE_NAMES.map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </div>
        <div className="field">
          <label htmlFor="gate-kind">Evidence</label>
          <select id="gate-kind" className="input" value={kind} onChange={(event) => setKind(event.target.value as Kind)}>
            {KINDS.map((one) => (
              <option key={one.id} value={one.id}>
                {one.label}
              </option>
            ))}
          </select>
        </div>
        <div className="field">
          <label htmlFor="gate-value">{chosen?.label}</label>
          <input id="gate-value" className="input mono" value={text} maxLength={2000} onChange={(event) => setText(event.target.value)} aria-describedby="gate-hint" />
          <span id="gate-hint" className="hint">
            {chosen?.hint}
          </span>
        </div>
        {failure && <Trouble failure={failure} />}
        <Command line={`cleo verify ${id} --gate ${gate}`} />
        <footer>
          <Button onClick={onClose}>Close</Button>
          <Button look="primary" type="submit" disabled={busy || text.trim() === ""}>
            {kind === "run" ? "Run it" : "Record"}
          </Button>
        </footer>
      </form>
    </Dialog>
  );
}

function valuesOf(kind: Kind, text: string): string[] {
  if (kind === "run") return text.trim().split(/\s+/);
  if (kind === "files")
    return text
      .split(",")
      .map((one) => one.trim())
      .filter(Boolean);
  return [text.trim()];
}
