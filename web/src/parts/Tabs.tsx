import * as Radix from "@radix-ui/react-tabs";
import type { ReactNode } from "react";

export interface Tab {
  id: string;
  label: ReactNode;
  content: ReactNode;
}

/** Tabs over one scrolling body. Only the open tab exists. */
export function Tabs({ tabs, value, onChange, label }: { tabs: Tab[]; value: string; onChange: (id: string) => void; label: string }) {
  const open = tabs.some((tab) => tab.id === value) ? value : (tabs[0]?.id ?? "");
  return (
    <Radix.Root className="tabbed" value={open} onValueChange={onChange} activationMode="manual">
      <Radix.List className="tabs" aria-label={label}>
        {tabs.map((tab) => (
          <Radix.Trigger key={tab.id} value={tab.id}>
            {tab.label}
          </Radix.Trigger>
        ))}
      </Radix.List>
      {tabs.map((tab) => (
        <Radix.Content key={tab.id} value={tab.id} className="scroll">
          {tab.id === open && tab.content}
        </Radix.Content>
      ))}
    </Radix.Root>
  );
}
