import { lazy, Suspense, useEffect, useState, type ReactNode } from "react";
import { startEvents } from "../api/events";
import { navigate } from "../router/location";
import { Voice } from "./announce";
import { useKeys } from "./keys";
import { openPalette, usePalette } from "./palette";
import { togglePanel } from "./Panel";
import { PhoneBar } from "./PhoneBar";
import { PLACES } from "./places";
import { setFolded, useSettings } from "./settings";
import { Sidebar } from "./Sidebar";
import { Toasts } from "./Toasts";

const Palette = lazy(() => import("./Palette"));
const KeyHelp = lazy(() => import("./KeyHelp"));

export function Shell({ children }: { children: ReactNode }) {
  const folded = useSettings((settings) => settings.folded);
  const narrow = useNarrow();
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
    <div className={folded || narrow ? "app folded" : "app"}>
      <a className="skip" href="#main">
        Skip to the content
      </a>
      <Sidebar folded={folded || narrow} />
      {children}
      <PhoneBar />
      <Toasts />
      <Voice />
      <Suspense fallback={null}>
        {palette && <Palette />}
        {help && <KeyHelp onClose={() => setHelp(false)} />}
      </Suspense>
    </div>
  );
}

const between = window.matchMedia("(min-width: 721px) and (max-width: 1100px)");

function useNarrow() {
  const [narrow, setNarrow] = useState(between.matches);
  useEffect(() => {
    const changed = () => setNarrow(between.matches);
    between.addEventListener("change", changed);
    return () => between.removeEventListener("change", changed);
  }, []);
  return narrow;
}
