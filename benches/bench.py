"""Measures whole processes side by side with floor programs, in one run, and prints a table.

`pair` runs a command and its floor in turns, so that both meet the same noise, and gives medians.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

CLEO, EMPTY_CLAP, FLOOR_READ, FLOOR_WRITE, PAIR, ROUNDS = sys.argv[1:7]
SIZES = [1_000, 100_000]


def answer(command, folder):
    """Runs a command in a clean environment and returns what it prints."""
    environment = {"HOME": folder, "CLEO_FORMAT": "json"}
    done = subprocess.run(command, cwd=folder, env=environment, stdout=subprocess.PIPE, check=True)
    return done.stdout


def compare(name, command, floor, folder, goal):
    """Runs both in turns and prints one row of the table."""
    cost = json.loads(answer([PAIR, ROUNDS, *command, "--", *floor], folder))
    ratio = cost["wall"] / cost["floorWall"]
    print(
        f"| {name} | {cost['wall']:.2f} | {cost['floorWall']:.2f} | **{ratio:.2f}** | {goal} "
        f"| {cost['cpu']:.2f} | {cost['floorCpu']:.2f} | {cost['peak']:.1f} |",
        flush=True,
    )


def tasks(count):
    """Makes a plan: epics of a hundred tasks, each task after up to three earlier ones."""
    for number in range(count):
        epic = number - number % 100
        task = {"key": f"k{number}", "title": f"Implement part {number} of the service"}
        if number == epic:
            task["type"] = "epic"
        else:
            task["parent"] = f"@k{epic}"
            earlier = range(max(epic + 1, number - 3), number)
            task["depends"] = [f"@k{other}" for other in earlier]
        task["description"] = "Change the handler, keep its callers working, cover errors. " * 5
        task["labels"] = ["backend", f"area-{number % 7}"]
        yield json.dumps(task)


def world(count, folder):
    """Makes a workspace with so many tasks and says how long the batch took."""
    answer([CLEO, "init"], folder)
    plan = os.path.join(folder, "plan.jsonl")
    with open(plan, "w") as file:
        file.writelines(line + "\n" for line in tasks(count))
    start = time.perf_counter()
    answer([CLEO, "add", "--batch", plan], folder)
    os.remove(plan)
    return f"`add --batch` of {count:,} tasks: {time.perf_counter() - start:.2f} s"


def main():
    base = tempfile.mkdtemp(prefix="cleo-bench-")
    notes = []
    print("| command | ms | floor ms | ratio | goal | CPU ms | floor CPU ms | peak MB |")
    print("|---|---|---|---|---|---|---|---|")
    try:
        compare("`--version`", [CLEO, "--version"], [EMPTY_CLAP, "--version"], base, "1.5")
        for count in SIZES:
            folder = os.path.join(base, str(count))
            os.mkdir(folder)
            notes.append(world(count, folder))
            middle = str(count // 2)
            read = [FLOOR_READ, os.path.join(folder, ".cleo/cleo.db"), middle]
            write = [FLOOR_WRITE, os.path.join(folder, "floor.db")]
            size = f"{count:,} tasks"
            compare(f"`show`, {size}", [CLEO, "show", f"T{middle}"], read, folder, "1.5")
            compare(f"`list --limit 50`, {size}", [CLEO, "list", "--limit", "50"], read, folder, "")
            compare(f"`spawn`, {size}", [CLEO, "spawn", f"T{middle}"], read, folder, "4")
            compare(f"`add`, {size}", [CLEO, "add", "One more task"], write, folder, "2")
    finally:
        shutil.rmtree(base)
    print()
    for note in notes:
        print(f"- {note}")
    print(f"- size of the binary: {os.path.getsize(CLEO) / 1e6:.1f} MB")


main()
