// What the phone's bar has no room for, and the choices that belong to this machine.
import "./more.css";
import { Icon } from "../parts/Icon";
import { Link } from "wouter";
import { openPalette } from "../shell/palette";
import { setSingleKeys, useKeySettings } from "../shell/keys";
import { Page } from "../shell/Page";
import { PLACES } from "../shell/places";
import { setTheme, useSettings, type Theme } from "../shell/settings";
import { Status } from "./MoreStatus";

const THEMES: Theme[] = ["system", "light", "dark"];

export default function More() {
  const theme = useSettings((settings) => settings.theme);
  const single = useKeySettings((settings) => settings.single);
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
                <input type="radio" name="theme" checked={theme === one} onChange={() => setTheme(one)} />
                {one.charAt(0).toUpperCase() + one.slice(1)}
              </label>
            ))}
          </div>
        </fieldset>
        <div className="section">
          <label className="check">
            <input type="checkbox" checked={single} onChange={(event) => setSingleKeys(event.target.checked)} />
            Single keys work when nothing is being typed
          </label>
        </div>
        <Status />
      </div>
    </Page>
  );
}
