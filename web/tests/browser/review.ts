// The world that the tests of the home page and of reviews look at: a repository whose runs have worktrees, one attempt
// that was refused, a task that waits for a person, one that takes long, one that is done.
import { chmodSync, writeFileSync } from "node:fs";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { World } from "./world";

/** Says what it does, changes a file, and ends without the entry that is asked for. */
const AGENT = `#!/bin/sh
echo "reads the task"
grep -q "Keep the limit" "$1" && echo "was told to keep the limit"
printf 'fn main() {\\n    println!("two");\\n}\\n' > main.rs
echo "a new file" > "notes for $CLEO_TASK_ID.txt"
if grep -q "Take your time" "$1"; then echo "waits for the tide"; sleep 600; fi
echo "Task complete. See MANIFEST.jsonl for summary."
`;

/** Commits what it does, with a file that the task does not declare. */
const COMMITTER = `#!/bin/sh
grep -q "main.rs:[0-9] (removed): print three" "$1" && echo "was told of a line"
printf 'fn main() {\\n    println!("two");\\n}\\n' > main.rs
echo "more" >> other.txt
git add main.rs other.txt
git commit -qm "Work"
`;

/** A repository in which agents work without worktrees. */
export async function quay(): Promise<World> {
  const world = repository(COMMITTER);
  world.cleo("add", "Print two", "--file", "main.rs");
  world.cleo("add", "Dig");
  world.cleo("add", "Fill");
  world.tries("run", "T1", "--command", "sh agent.sh {prompt_file}", "--repair", "0");
  world.tries("run", "T2", "T3", "--command", "true", "--repair", "0");
  await world.serve();
  return world;
}

function repository(agent: string): World {
  const world = new World();
  const git = (...words: string[]) => execFileSync("git", words, { cwd: world.folder, env: { ...process.env, HOME: world.folder }, encoding: "utf8" });
  world.cleo("init");
  writeFileSync(join(world.folder, "agent.sh"), agent);
  chmodSync(join(world.folder, "agent.sh"), 0o755);
  writeFileSync(join(world.folder, "main.rs"), 'fn main() {\n    println!("one");\n}\n');
  writeFileSync(join(world.folder, ".gitignore"), ".cleo\n.config\n.data\n");
  git("init", "-q", "-b", "main", ".");
  git("config", "user.email", "dana@localhost");
  git("config", "user.name", "dana");
  git("add", "-A");
  git("commit", "-qm", "Begin");
  return world;
}

export async function harbour(): Promise<World> {
  const world = repository(AGENT);
  world.cleo(
    "add",
    "Print two",
    "--description",
    "Print two instead of one.\nThe limit of the loop stays as it is.",
    "--acceptance",
    "main.rs prints two :: grep -q two main.rs",
    "--acceptance",
    "a person likes it",
  );
  world.cleo("add", "Ask the harbour master", "--priority", "high");
  world.cleo("add", "Watch the tide", "--description", "Take your time.");
  world.cleo("add", "Paint the buoy");
  world.cleo("update", "T2", "--status", "blocked", "--note", "Which of the two masters?");
  world.tries("run", "T1", "--command", "sh agent.sh {prompt_file}", "--isolate", "worktree", "--repair", "0");
  world.cleo("complete", "T4");
  await world.serve();
  return world;
}
