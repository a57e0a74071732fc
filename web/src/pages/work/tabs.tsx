import type { TaskPage } from "../../api/work";
import type { Tab } from "../../parts/Tabs";
import { EvidenceTab } from "./tabs/EvidenceTab";
import { LogTab } from "./tabs/LogTab";
import { ManifestTab } from "./tabs/ManifestTab";
import { Overview } from "./tabs/Overview";
import { PromptTab } from "./tabs/PromptTab";
import { ReceiptTab } from "./tabs/ReceiptTab";

/** The tabs of a task, the same in the panel and on its page. */
export function taskTabs(page: TaskPage): Tab[] {
  const { task } = page;
  const tabs: Tab[] = [
    { id: "overview", label: "Overview", content: <Overview page={page} /> },
    { id: "prompt", label: "Prompt", content: <PromptTab page={page} /> },
    { id: "receipt", label: "Receipt", content: <ReceiptTab id={task.id} spawned={page.spawns.length > 0} /> },
    { id: "manifest", label: "Manifest", content: <ManifestTab id={task.id} spawned={page.spawns.length > 0} /> },
    { id: "evidence", label: "Evidence", content: <EvidenceTab gates={page.gates} /> },
  ];
  if (page.attempts.some((attempt) => attempt.hasLog)) tabs.push({ id: "log", label: "Log", content: <LogTab page={page} /> });
  return tabs;
}
