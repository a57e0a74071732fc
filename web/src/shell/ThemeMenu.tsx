import { Button } from "../parts/Button";
import type { IconName } from "../parts/Icon";
import { Menu } from "../parts/Menu";
import { setTheme, useSettings, type Theme } from "./settings";

const THEMES: { theme: Theme; label: string; icon: IconName }[] = [
  { theme: "system", label: "System", icon: "screen" },
  { theme: "light", label: "Light", icon: "sun" },
  { theme: "dark", label: "Dark", icon: "moon" },
];

export function ThemeMenu() {
  const now = useSettings((settings) => settings.theme);
  const icon = THEMES.find(({ theme }) => theme === now)?.icon ?? "screen";
  return (
    <Menu
      label="Theme"
      trigger={<Button look="ghost" small icon={icon} aria-label={`Theme: ${now}`} />}
      entries={THEMES.map(({ theme, label }) => ({ label, checked: theme === now, onSelect: () => setTheme(theme) }))}
    />
  );
}
