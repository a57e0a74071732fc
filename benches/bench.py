"""Measures whole processes side by side with floor programs, in one run.

Each round runs the command and its floor once, so that both meet the same noise. Printed are
medians of wall time and of CPU time (user + system), their ratios, and the peak memory.
"""

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

CLEO, EMPTY_CLAP, FLOOR_READ, FLOOR_WRITE, PEAK, ROUNDS = *sys.argv[1:6], int(sys.argv[6])
SIZES = [1_000, 100_000]


def run(command, folder):
    """Runs a command; returns wall seconds and CPU seconds."""
    start = time.perf_counter()
    pid = os.fork()
    if pid == 0:
        quiet = os.open(os.devnull, os.O_RDWR)
        for handle in (0, 1, 2):
            os.dup2(quiet, handle)
        os.chdir(folder)
        os.execve(command[0], command, {"HOME": folder, "CLEO_FORMAT": "json"})
    _, status, usage = os.wait4(pid, 0)
    wall = time.perf_counter() - start
    if status != 0:
        sys.exit(f"failed with {status}: {command}")
    return wall, usage.ru_utime + usage.ru_stime


def peak(command, folder):
    """Runs a command once more and returns its peak memory in MB."""
    environment = {"HOME": folder, "CLEO_FORMAT": "json"}
    answer = subprocess.run([PEAK, *command], cwd=folder, env=environment, stdout=subprocess.PIPE)
    return int(answer.stdout) / 1024


def compare(name, command, floor, folder, goal):
    """Runs both in turns and prints one row of the table."""
    run(command, folder), run(floor, folder)
    pairs = [(run(command, folder), run(floor, folder)) for _ in range(ROUNDS)]
    wall, cpu = (statistics.median(ours[i] for ours, _ in pairs) for i in range(2))
    floor_wall, floor_cpu = (statistics.median(theirs[i] for _, theirs in pairs) for i in range(2))
    print(
        f"| {name} | {wall * 1e3:.2f} | {floor_wall * 1e3:.2f} | **{wall / floor_wall:.2f}** "
        f"| {goal} | {cpu * 1e3:.2f} | {floor_cpu * 1e3:.2f} | {peak(command, folder):.1f} |",
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
    run([CLEO, "init"], folder)
    plan = os.path.join(folder, "plan.jsonl")
    with open(plan, "w") as file:
        file.writelines(line + "\n" for line in tasks(count))
    wall, cpu = run([CLEO, "add", "--batch", plan], folder)
    os.remove(plan)
    return f"`add --batch` of {count:,} tasks: {wall:.2f} s, {cpu:.2f} s of CPU"


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
