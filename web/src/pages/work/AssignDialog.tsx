import { useState } from "react";
import { plural } from "../../format/numbers";
import { Button } from "../../parts/Button";
import { Dialog } from "../../parts/Dialog";

interface Props {
  /** How many tasks. */
  of: number;
  onAssign: (agent: string) => void;
  onClose: () => void;
}

export function AssignDialog({ of, onAssign, onClose }: Props) {
  const [agent, setAgent] = useState("");
  return (
    <Dialog title={`Assign ${plural(of, "task")}`} onClose={onClose}>
      <form
        className="filter-form"
        onSubmit={(event) => {
          event.preventDefault();
          onAssign(agent.trim());
        }}
      >
        <div className="field">
          <label htmlFor="assignee">Agent</label>
          <input id="assignee" className="input" value={agent} maxLength={100} required data-first onChange={(event) => setAgent(event.target.value)} aria-describedby="assignee-hint" />
          <span id="assignee-hint" className="hint">
            A name, as in `cleo update --agent`. Who works on a task is said by its claim.
          </span>
        </div>
        <footer>
          <Button onClick={onClose}>Close</Button>
          <Button look="primary" type="submit" disabled={agent.trim() === ""}>
            Assign
          </Button>
        </footer>
      </form>
    </Dialog>
  );
}
