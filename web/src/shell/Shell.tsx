import { useEffect, useState, type ReactNode } from "react";
import { startEvents } from "../api/events";
import { navigate } from "../router";
import { Toasts } from "../parts/toasts";
import { useKeys } from "./keys";
import { openPalette, usePalette, PLACES } from "./places";
import { togglePanel } from "./Page";
import { PhoneBar, Sidebar } from "./Sidebar";
import { setFolded, useSettings } from "./settings";
import { useMatch, narrow } from "../parts/screen";
import { later } from "../parts/later";

const Palette = later(() => import("./Palette"));
const KeyHelp = later(() => import("./KeyHelp"));

export function Shell({ children }: { children: ReactNode }) {
  const folded = useSettings((settings) => settings.folded);
  const isFolded = useMatch(narrow) || folded;
  const palette = usePalette((state) => state.open);
  const [help, setHelp] = useState(false);
  useEffect(startEvents, []);
  useKeys("Everywhere", [
    { keys: "Mod+K", does: "Find or run", run: () => openPalette() },
    { keys: "?", does: "Keys of this page", run: () => setHelp(true) },
    { keys: "[", does: "Fold the sidebar", run: () => setFolded(!folded) },
    { keys: "]", does: "Close the panel, or open it again", run: togglePanel },
    ...PLACES.map(({ key, label, href }) => ({ keys: `G ${key}`, does: label, run: () => navigate(href) })),
  ]);
  return (
    <div className={isFolded ? "app folded" : "app"}>
      <a className="skip" href="#main">
        Skip to the content
      </a>
      <Sidebar folded={isFolded} />
      {children}
      <PhoneBar />
      <Toasts />
      {palette && <Palette />}
      {help && <KeyHelp onClose={() => setHelp(false)} />}
    </div>
  );
}
