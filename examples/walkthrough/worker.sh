#!/bin/sh
# Plays an agent that works through the tasks it is given. This is a script and no AI: for each task
# it takes the prompt, says that it starts, leaves what an agent has to leave, and completes it.
#
#   sh worker.sh NAME TASK…
set -eu

CLEO_AGENT=${1:?who works?}
export CLEO_AGENT
shift
here=$(dirname "$0")

for task in "$@"; do
    cleo spawn "$task" --format text --quiet >"$task.md"
    cleo start "$task" --format text --quiet
    sh "$here/../demo/agent.sh" "$task.md"
    cleo complete "$task" --format text --quiet
done
