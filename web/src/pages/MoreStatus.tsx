import { api } from "../api/request";
import { useStatus } from "../api/status";
import { Button } from "../parts/Button";
import { Term } from "../parts/Facts";

/** Who is asked and as whom. */
export function Status() {
  const status = useStatus();
  if (!status) return null;
  async function leave() {
    await api.delete("/api/session");
    window.location.assign("/sign-in");
  }
  return (
    <div className="section">
      <dl className="facts">
        <Term name="Workspace" className="mono">
          {status.workspace.root}
        </Term>
        <Term name="Server" className="mono">
          {status.address}
        </Term>
        <Term name="Version" className="mono">
          {status.version}
        </Term>
        <Term name="You are">{status.user}</Term>
        <Term name="May">{status.scopes.join(", ")}</Term>
      </dl>
      {!status.local && <Button onClick={() => void leave()}>Sign out</Button>}
    </div>
  );
}
