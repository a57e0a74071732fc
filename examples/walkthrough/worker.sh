#!/bin/sh
# Plays an agent that takes tasks as long as there are any. This is a script and no AI: it claims the
# most urgent task that is ready, takes its prompt, leaves what an agent has to leave, and completes
# it. Any number of workers can do so at the same time; no task goes to two of them.
#
#   sh worker.sh NAME EPIC
set -eu

CLEO_AGENT=${1:?who works?}
epic=${2:?on which epic?}
export CLEO_AGENT
here=$(dirname "$0")

while :; do
    status=0
    answer=$(cleo claim --next --epic "$epic" --lease 10m --json) || status=$?
    case $status in
        0) ;;
        4) # Nothing is ready. When others are at work, more may come.
            case $answer in
                *'"retryable":true'*) sleep 1 && continue ;;
                *) break ;;
            esac ;;
        *) echo "$answer" && exit "$status" ;;
    esac

    # Whatever is done from here on counts only while the claim holds.
    claim=$(echo "$answer" | sed -n 's/.*"claim":{"task":"\(T[0-9]*\)","epoch":\([0-9]*\),.*/\1 \2/p')
    CLEO_TASK_ID=${claim% *} CLEO_EPOCH=${claim#* }
    export CLEO_TASK_ID CLEO_EPOCH

    cleo spawn "$CLEO_TASK_ID" --format text --quiet >"$CLEO_TASK_ID.md"
    sh "$here/../demo/agent.sh" "$CLEO_TASK_ID.md"
    cleo complete "$CLEO_TASK_ID" --format text --quiet
    unset CLEO_TASK_ID CLEO_EPOCH
done
