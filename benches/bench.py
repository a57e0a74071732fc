"""Measures whole processes side by side with floor programs, in one run, and prints a table.

`pair` runs a command and its floor in turns, so that both meet the same noise, and gives medians.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from statistics import median

CLEO, EMPTY_CLAP, FLOOR_READ, FLOOR_WRITE, PAIR, ROUTE, ROUNDS = sys.argv[1:8]
SIZES = [1_000, 100_000]
TASK = shutil.which("task")
MESSAGES = [
    "Explain the Second War in Warcraft history.",
    "Help me design a creative layout for my blog.",
    "Solve 2x + 5 = 15 and explain the steps.",
    "What is the weather today?",
]


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


def once(name, command, folder, goal, rounds=1):
    """Runs a long command and prints one row: medians of wall and CPU time, and peak memory."""
    environment = {"HOME": folder, "CLEO_FORMAT": "json"}
    costs = []
    for number in range(rounds):
        words = [word.replace("ROUND", str(number)) for word in command]
        start = time.perf_counter()
        child = subprocess.Popen(words, cwd=folder, env=environment, stdout=subprocess.DEVNULL)
        usage, peak = ended(child)
        wall = (time.perf_counter() - start) * 1e3
        assert child.returncode == 0, words
        costs.append((wall, (usage.ru_utime + usage.ru_stime) * 1e3, peak))
    wall, cpu, peak = (sorted(column)[rounds // 2] for column in zip(*costs))
    print(f"| {name} | {wall:.0f} | {cpu:.0f} | {peak:.0f} | {goal} |", flush=True)


def tasks(count):
    """Makes a plan: epics of a hundred tasks, each task after up to three earlier ones, and some
    after one more: 1,000 epics have 300,000 dependencies."""
    for number in range(count):
        epic = number - number % 100
        task = {"key": f"k{number}", "title": f"Implement part {number} of the service"}
        if number == epic:
            task["type"] = "epic"
        else:
            task["parent"] = f"@k{epic}"
            earlier = list(range(max(epic + 1, number - 3), number))
            if number % 10 == 0:
                earlier.append(max(epic + 1, number - 9))
            task["depends"] = [f"@k{other}" for other in earlier]
        task["description"] = "Change the handler, keep its callers working, cover errors. " * 5
        task["labels"] = ["backend", f"area-{number % 7}"]
        yield json.dumps(task)


def epic(name, count, wave):
    """Makes an epic: tasks of two files, in rows of a hundred unless they are to be one wave."""
    yield json.dumps({"key": name, "title": f"Build {name}", "type": "epic"})
    for number in range(count):
        task = {"key": f"{name}-{number}", "title": f"Write {name} {number}", "parent": f"@{name}"}
        task["files"] = [f"src/{name}/{number}.rs", f"tests/{name}/{number}.rs"]
        if not wave and number % 100:
            earlier = range(max(number - number % 100, number - 3), number)
            task["depends"] = [f"@{name}-{other}" for other in earlier]
        yield json.dumps(task)


def write(lines, folder, name):
    """Writes lines into a file and returns its path."""
    path = os.path.join(folder, name)
    with open(path, "w") as file:
        file.writelines(line + "\n" for line in lines)
    return path


def world(count, folder):
    """Makes a workspace with so many tasks."""
    os.mkdir(folder)
    answer([CLEO, "init"], folder)
    plan = write(tasks(count), folder, "plan.jsonl")
    answer([CLEO, "add", "--batch", plan], folder)
    os.remove(plan)


def entries(count):
    """Makes the lines of a manifest."""
    for number in range(count):
        entry = {"id": f"part-{number}-2026-01-26", "file": f"2026-01-26_part-{number}.md"}
        entry |= {"title": f"Part {number}", "date": "2026-01-26", "status": "complete"}
        entry |= {"topics": ["backend"], "key_findings": ["It works.", "It is fast.", "It is small."]}
        entry |= {"actionable": True, "needs_followup": [], "linked_tasks": [f"T{number + 1}"]}
        yield json.dumps(entry)


def small(folder, count):
    """Measures what an orchestrator asks all the time, against floors."""
    middle = str(count // 2)
    read = [FLOOR_READ, os.path.join(folder, ".cleo/cleo.db"), middle]
    durable = [FLOOR_WRITE, os.path.join(folder, "floor.db")]
    size = f"{count:,} tasks"
    compare(f"`show`, {size}", [CLEO, "show", f"T{middle}"], read, folder, "1.5")
    compare(f"`list --limit 50`, {size}", [CLEO, "list", "--limit", "50"], read, folder, "")
    compare(f"`orchestrator ready`, {size}", [CLEO, "orchestrator", "ready"], read, folder, "2")
    compare(f"`next`, {size}", [CLEO, "next"], read, folder, "2")
    compare(f"`spawn`, {size}", [CLEO, "spawn", f"T{middle}"], read, folder, "4")
    compare(f"`route`, {size}", [CLEO, "route", MESSAGES[1]], read, folder, "2")
    compare(f"`add`, {size}", [CLEO, "add", "One more task"], durable, folder, "2")
    compare(f"`claim --next`, {size}", [CLEO, "claim", "--next"], durable, folder, "2")


def large(folder):
    """Measures what works on much at once, in a workspace of 100,000 tasks."""
    print("\n| command, beside 100,000 tasks | ms | CPU ms | peak MB | goal |")
    print("|---|---|---|---|---|")
    copy = os.path.join(folder, "copy.jsonl")
    answer([CLEO, "export", "--output", copy], folder)
    write(epic("big", 9_999, False), folder, "big.jsonl")
    once("`add --batch` of 10,000 tasks", [CLEO, "add", "--batch", "big.jsonl"], folder, "1 s")
    found = json.loads(answer([CLEO, "list", "--type", "epic", "--limit", "100000", "--json"], folder))
    big = found["result"]["tasks"][-1]["id"]
    for command in ["analyze", "waves"]:
        words = [CLEO, "orchestrator", command, "--epic", big]
        once(f"`{command}` of an epic of 10,000", words, folder, "60 ms CPU", 5)
    waves = []
    for number in range(3):
        plan = write(epic(f"wave{number}", 1_000, True), folder, f"wave{number}.jsonl")
        answer([CLEO, "add", "--batch", plan], folder)
    found = json.loads(answer([CLEO, "list", "--type", "epic", "--limit", "100000", "--json"], folder))
    first = int(found["result"]["tasks"][-3]["id"][1:])
    waves = [f"T{first + 1_001 * number}" for number in range(3)]
    words = ["sh", "-c", f"set -- {' '.join(waves)}; shift ROUND; exec {CLEO} spawn --epic $1 --wave"]
    once("`spawn` of a wave of 1,000", words, folder, "300 ms", 3)
    manifest = os.path.join(folder, "claudedocs/agent-outputs")
    write(entries(100_000), manifest, "MANIFEST.jsonl")
    words = [CLEO, "manifest", "validate"]
    once("`manifest validate` of 100,000 lines", words, folder, "150 ms", 5)
    os.remove(os.path.join(manifest, "MANIFEST.jsonl"))
    other = os.path.join(folder, "other")
    os.mkdir(other)
    answer([CLEO, "init"], other)
    once("`import` of 100,000 tasks", [CLEO, "import", copy], other, "5 s")


def agents(count):
    """Makes agents with texts of a vocabulary in which few words are frequent."""
    word = lambda at: f"word{int(30_000 ** ((at * 7919 % 10_007) / 10_007))}"
    for number in range(count):
        words = [word(number * 31 + at) for at in range(20)]
        agent = {"id": f"agent-{number}", "name": f"Agent {number}", "tags": words[16:]}
        agent |= {"description": " ".join(words[:10]), "objective": " ".join(words[10:16])}
        yield agent


def routing(base):
    """Measures messages: many through one process, many agents from a file, and in process."""
    folder = os.path.join(base, "routing")
    os.mkdir(folder)
    lines = [MESSAGES[number % len(MESSAGES)] for number in range(1_000_000)]
    forms = {"text": lines, "JSON": [json.dumps({"message": line}) for line in lines]}
    print("\n| messages through `route --stdin` | CPU s | messages a second | goal |")
    print("|---|---|---|---|")
    for form, lines in forms.items():
        with open(write(lines, folder, "messages")) as file:
            environment = {"HOME": folder, "CLEO_FORMAT": "json"}
            words = [CLEO, "route", "--stdin"]
            child = subprocess.Popen(
                words, cwd=folder, env=environment, stdin=file, stdout=subprocess.DEVNULL
            )
            _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        assert child.returncode == 0, words
        cpu = usage.ru_utime + usage.ru_stime
        print(f"| {len(lines):,} as {form} | {cpu:.2f} | {len(lines) / cpu:,.0f} | 200,000 |", flush=True)
    print("\n| agents from a file | ms | CPU ms | peak MB | goal |")
    print("|---|---|---|---|---|")
    many = list(agents(10_000))
    write(map(json.dumps, many), folder, "agents.jsonl")
    write([json.dumps(many)], folder, "agents.json")
    for name in ["agents.jsonl", "agents.json"]:
        words = [CLEO, "route", "word7 word300 word29000", "--agents", name]
        once(f"`route` over 10,000 of `{name}`", words, folder, "", 3)
    print(flush=True)
    print(answer([ROUTE], folder).decode(), flush=True)


# What xargs starts gets a number, so that there, too, each agent writes a file of its own.
AGENT = """printf '# Work\\n\\n## Summary\\n\\nDone.\\n' >"$CLEO_OUTPUT_FILE$1"
printf '{"id":"%s","file":"%s","title":"Work","date":"2026-01-26","status":"complete","topics":["x"],\
"key_findings":["a","b","c"],"actionable":false,"needs_followup":[],"linked_tasks":["%s"]}\\n' \
    "$CLEO_MANIFEST_ID" "${CLEO_OUTPUT_FILE##*/}" "$CLEO_TASK_ID" \
    >>"$CLEO_ROOT/claudedocs/agent-outputs/MANIFEST.jsonl"
"""


def spent(words, folder, more, lines=b""):
    """Runs a command and returns its wall and CPU time, that of its children included, and its peak
    memory."""
    environment = {"HOME": folder, "PATH": os.environ["PATH"], "CLEO_FORMAT": "json"} | more
    start = time.perf_counter()
    pipe = subprocess.PIPE
    child = subprocess.Popen(words, cwd=folder, env=environment, stdin=pipe, stdout=subprocess.DEVNULL)
    child.stdin.write(lines)
    child.stdin.close()
    usage, peak = ended(child)
    return time.perf_counter() - start, usage.ru_utime + usage.ru_stime, peak


def ended(child):
    """Waits for a process and returns what it used, and its peak memory in MB."""
    peaks = [0]
    watch = threading.Thread(target=follow, args=(child.pid, peaks))
    watch.start()
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    watch.join()
    return usage, max(peaks)


def follow(process, peaks):
    """Looks at the memory of a process until it is gone."""
    while found := resident(process):
        peaks.append(found)
        time.sleep(0.005)


def resident(process):
    """The peak memory of a process in MB. What `wait4` tells counts the memory of this program, which
    the process had until it became another."""
    try:
        with open(f"/proc/{process}/status") as file:
            return next((int(line.split()[1]) / 1024 for line in file if line.startswith("VmHWM")), 0)
    except OSError:
        return 0


def steps(folder, count, jobs):
    """Carries out steps in a new workspace, and starts as many agents without it."""
    os.makedirs(folder)
    answer([CLEO, "init"], folder)
    plan = write((json.dumps({"title": f"Step {n}"}) for n in range(count)), folder, "plan.jsonl")
    answer([CLEO, "add", "--batch", plan], folder)
    agent = write(AGENT.splitlines(), folder, "agent.sh")
    floor = os.path.join(folder, "floor")
    os.makedirs(os.path.join(floor, "claudedocs/agent-outputs"))
    same = {"CLEO_OUTPUT_FILE": f"{floor}/x", "CLEO_MANIFEST_ID": "x", "CLEO_TASK_ID": "T1", "CLEO_ROOT": floor}
    numbers = b"\n".join(str(number).encode() for number in range(count))
    xargs = spent(["xargs", "-P", str(jobs), "-n", "1", "sh", agent], folder, same, numbers)
    words = [CLEO, "run", "--all-ready", "--jobs", str(jobs), "--quiet", "--command", f"sh {agent}"]
    return spent(words, folder, {}), xargs


def runs(folder, count=1_000, jobs=8, rounds=3):
    """Measures a run of steps whose agents do their work and end at once, in turns with `xargs` that
    starts the same agents; and what agents that sleep cost cleo."""
    measured = [steps(os.path.join(folder, f"round{turn}"), count, jobs) for turn in range(rounds)]
    cleo, xargs = ([median(part) for part in zip(*side)] for side in zip(*measured))
    own = (cleo[1] - xargs[1]) / count * 1e3
    print("\n| a run of 1,000 steps | s | xargs s | ratio | goal | own CPU ms a step | goal | peak MB | goal |")
    print("|---|---|---|---|---|---|---|---|---|")
    print(
        f"| 8 agents at a time | {cleo[0]:.2f} | {xargs[0]:.2f} | **{cleo[0] / xargs[0]:.2f}** | 3 "
        f"| {own:.2f} | 2 | {cleo[2]:.0f} | 100 |",
        flush=True,
    )
    folder = os.path.join(folder, "round0")
    sleepers = write((json.dumps({"title": f"Sleeper {n}"}) for n in range(200)), folder, "more.jsonl")
    answer([CLEO, "add", "--batch", sleepers], folder)
    words = [CLEO, "run", "--all-ready", "--jobs", "200", "--repair", "0", "--quiet", "--command"]
    # The longer they sleep, the more it costs; starting them costs the same.
    costs = [spent([*words, f"sleep {seconds}"], folder, {})[1] for seconds in (1, 11)]
    print(f"\n200 agents that sleep cost {(costs[1] - costs[0]) / 10:.1%} of a core (goal: 2 %).", flush=True)


def taskwarrior(base, folder):
    """Measures Taskwarrior at the same operations, on 1,000 tasks."""
    if not TASK:
        print("\nTaskwarrior is not installed here.")
        return
    home = os.path.join(base, "taskwarrior")
    os.mkdir(home)
    theirs = [TASK, "rc:/dev/null", f"rc.data.location={home}", "rc.confirmation=off", "rc.verbose="]
    plan = []
    for line in tasks(1_000):
        line = json.loads(line)
        name = lambda key: str(uuid.UUID(int=int(key.strip("@k")) + 1))
        task = {"uuid": name(line["key"]), "description": line["title"], "status": "pending"}
        task |= {"entry": "20260126T090000Z", "depends": [name(key) for key in line.get("depends", [])]}
        plan.append(task)
    answer([*theirs, "import", write([json.dumps(plan)], home, "plan.json")], base)
    print("\n| on 1,000 tasks | cleo ms | Taskwarrior ms | times as fast |")
    print("|---|---|---|---|")
    for name, ours, other in [
        ("add a task", ["add", "One more task"], ["add", "One more task"]),
        ("what is ready", ["orchestrator", "ready"], ["ready"]),
        ("show a task", ["show", "T500"], ["500", "info"]),
    ]:
        words = [PAIR, "9", CLEO, *ours, "--", *theirs, *other]
        cost = json.loads(answer(words, folder))
        ratio = cost["floorWall"] / cost["wall"]
        print(f"| {name} | {cost['wall']:.1f} | {cost['floorWall']:.1f} | **{ratio:.0f}** |", flush=True)


def main():
    base = tempfile.mkdtemp(prefix="cleo-bench-")
    print("| command | ms | floor ms | ratio | goal | CPU ms | floor CPU ms | peak MB |")
    print("|---|---|---|---|---|---|---|---|")
    try:
        compare("`--version`", [CLEO, "--version"], [EMPTY_CLAP, "--version"], base, "1.5")
        for count in SIZES:
            folder = os.path.join(base, str(count))
            world(count, folder)
            small(folder, count)
        large(folder)
        routing(base)
        runs(os.path.join(base, "runs"))
        taskwarrior(base, os.path.join(base, str(SIZES[0])))
    finally:
        shutil.rmtree(base)
    print(f"\nSize of the binary: {os.path.getsize(CLEO) / 1e6:.1f} MB")


main()
