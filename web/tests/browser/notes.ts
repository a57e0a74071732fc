// The world that the tests of tasks and runs look at: an epic that is half done by agents that are
// played by a script, one that lied, one that is at work.
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { project, World } from "./world";

const EVIL = '<img src=x onerror="window.evil=1"><script>window.evil=1</script>';

export async function notes(): Promise<World> {
  const world = new World();
  world.cleo("init");
  copyFileSync(join(project, "examples", "demo", "agent.sh"), join(world.folder, "agent.sh"));
  world.cleo("add", "--batch", join(project, "examples", "walkthrough", "tasks.jsonl"));
  world.cleo("add", EVIL, "--parent", "T1", "--priority", "high", "--description", EVIL);
  world.cleo("run", "T2", "T3", "--command", "sh agent.sh {prompt_file}");
  world.cleo("run", "T5", "--command", "sh agent.sh {prompt_file}");
  world.tries("run", "T4", "--command", "sh agent.sh --lie {prompt_file}", "--repair", "1");
  world.cleo("start", "T7");
  world.cleo("spawn", "T7");
  world.cleo("verify", "T7", "--gate", "implemented", "--note", "half of it");
  await world.serve();
  return world;
}
