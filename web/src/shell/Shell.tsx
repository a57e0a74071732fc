import { useEffect, useState, type ReactNode } from "react";
import { startEvents } from "../api/events";
import { show, shown } from "../api/resource";
import { navigate } from "../router";
import { Toasts } from "../parts/toasts";
import { useKeys } from "./keys";
import { openPalette, usePalette, PLACES, useCommands } from "./places";
import { togglePanel } from "./Page";
import { PhoneBar, Sidebar } from "./Sidebar";
import { choose, THEMES, useSettings } from "./settings";
import { useMatch, narrow } from "../parts/screen";
import { later } from "../parts/later";
import { code } from "../routes";

const palettePart = code(() => import("./Palette"));
const Palette = later(palettePart);
const KeyHelp = later(() => import("./KeyHelp"));

function commandsOf(folded: boolean, help: () => void) {
  const go = (label: string, href: string) => ({ label, run: () => navigate(href) });
  return [
    go("New task", "/agents/tasks?task=new"),
    go("New agent", "/agents/manage?edit=1"),
    go("New conversation", "/agents/chat"),
    ...THEMES.map((theme) => ({ label: `Theme: ${theme}`, run: () => choose({ theme }) })),
    { label: folded ? "Unfold the sidebar" : "Fold the sidebar", shortcut: "[", run: () => choose({ folded: !folded }) },
    { label: "Keys of this page", shortcut: "?", run: help },
  ];
}

export function Shell({ children }: { children: ReactNode }) {
  const folded = useSettings((settings) => settings.folded);
  const isFolded = useMatch(narrow) || folded;
  const palette = usePalette((state) => state.open);
  const [help, setHelp] = useState(false);
  useEffect(() => void requestAnimationFrame(() => setTimeout(show)), []);
  useEffect(() => void shown.then(startEvents), []);
  // Fetched before it is asked for, so that Ctrl K opens it at once.
  useEffect(() => void setTimeout(palettePart.load, 500), []);
  useCommands(
    "shell",
    commandsOf(folded, () => setHelp(true)),
  );
  useKeys("Everywhere", [
    { keys: "Mod+K", does: "Find or run", run: () => openPalette() },
    { keys: "?", does: "Keys of this page", run: () => setHelp(true) },
    { keys: "[", does: "Fold the sidebar", run: () => choose({ folded: !folded }) },
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
