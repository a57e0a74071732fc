import { useState, type FormEvent } from "react";
import { Failure, api } from "../../api/request";
import { Button, Command } from "../../parts/Button";
import { sentence } from "../../parts/States";
import { Mark } from "../../shell/Sidebar";
import { usePlace } from "../../router";
import { Field } from "../../parts/Field";
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
        <Field
          label="Token"
          name="password"
          type="password"
          className="mono"
          autoComplete="current-password"
          autoFocus
          value={token}
          onText={setToken}
          fault={fault && <span role="alert">{fault}</span>}
        />
        <p className="small muted">Made on the machine where the server runs:</p>
        <Command line="cleo serve token create" />
        <Button look="primary" type="submit" disabled={busy || token.trim() === ""}>
          Sign in
        </Button>
      </form>
    </main>
  );
}

/** Only a path of our own: `//host` and `/\host` lead elsewhere. */
function ownPath(next: string | null): string {
  if (next === null || !/^\/(?![/\\])/.test(next)) return "/work";
  const url = new URL(next, window.location.origin);
  return url.origin === window.location.origin ? url.pathname + url.search : "/work";
}
