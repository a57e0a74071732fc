// What the phone's bar has no room for, and the choices that belong to this machine.
import { Icon } from "../parts/Icon";
import { openPalette, PLACES, useStatus } from "../shell/places";
import { Page } from "../shell/Page";
import { choose, THEMES, useSettings } from "../shell/settings";
import { api } from "../api/request";
import { Button } from "../parts/Button";
import { Term } from "../parts/Facts";
import { capital } from "../format";
import { Link } from "../router";
import { SingleKeys } from "../shell/KeyHelp";

export default function More() {
  const theme = useSettings((settings) => settings.theme);
  return (
    <Page title="More">
      <div className="more pane">
        <ul>
          <li>
            <button type="button" className="nav" onClick={() => openPalette()}>
              <Icon name="search" />
              Find or run
            </button>
          </li>
          {PLACES.map(({ href, label, icon }) => (
            <li key={href}>
              <Link className="nav" href={href}>
                <Icon name={icon} />
                {label}
              </Link>
            </li>
          ))}
        </ul>
        <fieldset className="section">
          <legend className="caption">Theme</legend>
          <div className="row wrap">
            {THEMES.map((one) => (
              <label key={one} className="check">
                <input type="radio" name="theme" checked={theme === one} onChange={() => choose({ theme: one })} />
                {capital(one)}
              </label>
            ))}
          </div>
        </fieldset>
        <div className="section">
          <SingleKeys />
        </div>
        <Status />
      </div>
    </Page>
  );
}

/** Who is asked and as whom. */
function Status() {
  const status = useStatus();
  if (!status) return null;
  async function leave() {
    await api.delete("/api/session");
    window.location.assign("/sign-in");
  }
  return (
    <div className="section">
      <dl className="facts">
        <Term name="Workspace" mono={status.workspace.root} />
        <Term name="Server" mono={status.address} />
        <Term name="Version" mono={status.version} />
        <Term name="You are">{status.user}</Term>
        <Term name="May">{status.scopes.join(", ")}</Term>
      </dl>
      {!status.local && <Button onClick={() => void leave()}>Sign out</Button>}
    </div>
  );
}
