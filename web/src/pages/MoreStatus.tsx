import { api } from "../api/request";
import { useStatus } from "../api/status";
import { Button } from "../parts/Button";

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
        <dt>Workspace</dt>
        <dd className="mono">{status.workspace.root}</dd>
        <dt>Server</dt>
        <dd className="mono">{status.address}</dd>
        <dt>Version</dt>
        <dd className="mono">{status.version}</dd>
        <dt>You are</dt>
        <dd>{status.user}</dd>
        <dt>May</dt>
        <dd>{status.scopes.join(", ")}</dd>
      </dl>
      {!status.local && <Button onClick={() => void leave()}>Sign out</Button>}
    </div>
  );
}
