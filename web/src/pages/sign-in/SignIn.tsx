import { useState, type FormEvent } from "react";
import { Failure } from "../../api/failure";
import { api } from "../../api/request";
import { Button } from "../../parts/Button";
import { Command } from "../../parts/Command";
import { sentence } from "../../parts/States";
import { Mark } from "../../shell/Mark";
import { usePlace } from "../../router/location";
import "./sign-in.css";

export default function SignIn() {
  const { query } = usePlace();
  const [token, setToken] = useState("");
  const [fault, setFault] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);

  async function submit(event: FormEvent) {
    event.preventDefault();
    setBusy(true);
    try {
      await api.post("/api/session", { token: token.trim() });
      window.location.assign(ownPath(query.get("next")));
    } catch (error) {
      setFault(error instanceof Failure ? sentence(error.message) : "The token could not be sent.");
      setBusy(false);
    }
  }

  return (
    <main className="sign-in">
      <form onSubmit={(event) => void submit(event)}>
        <div className="row">
          <Mark />
          <h1>Sign in to cleo</h1>
        </div>
        <div className="field">
          <label htmlFor="token">Token</label>
          <input
            id="token"
            name="password"
            type="password"
            className="input mono"
            autoComplete="current-password"
            autoFocus
            value={token}
            onChange={(event) => setToken(event.target.value)}
            aria-invalid={fault !== null}
            aria-describedby="token-hint token-fault"
          />
          <span id="token-fault" className="fault" role="alert">
            {fault}
          </span>
          <span id="token-hint" className="hint">
            Made on the machine where the server runs:
          </span>
        </div>
        <Command line="cleo serve token create" />
        <Button look="primary" type="submit" disabled={busy || token.trim() === ""}>
          Sign in
        </Button>
      </form>
    </main>
  );
}

/** Only a path of our own: `//host` and `/\host` lead elsewhere. */
export function ownPath(next: string | null): string {
  if (next === null || !/^\/(?![/\\])/.test(next)) return "/work";
  const url = new URL(next, window.location.origin);
  return url.origin === window.location.origin ? url.pathname + url.search : "/work";
}
