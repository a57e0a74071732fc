#!/bin/sh
# Deals the tasks of a wave out to two agents, who work at the same time, and waits for both.
#
#   sh team.sh WAVE.ndjson        what `cleo orchestrator spawn … --format ndjson` has written
set -eu

here=$(dirname "$0")
tasks=$(sed -n 's/.*"result":{"taskId":"\(T[0-9]*\)".*/\1/p' "${1:?which wave?}")

ada=
bob=
turn=ada
for task in $tasks; do
    case $turn in
        ada) ada="$ada $task" turn=bob ;;
        bob) bob="$bob $task" turn=ada ;;
    esac
done

# The ids are plain words, and each is an argument of its own.
# shellcheck disable=SC2086
sh "$here/worker.sh" ada $ada >ada.log 2>&1 &
first=$!
# shellcheck disable=SC2086
sh "$here/worker.sh" bob $bob >bob.log 2>&1 &
second=$!
wait "$first"
wait "$second"
