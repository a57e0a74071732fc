#!/bin/sh
# Plays an agent in `cleo demo`. This is a script and no AI: it does nothing of what a task asks
# for. It only leaves behind what an agent has to leave behind: an output file and a manifest line.
#
#   sh agent.sh [PROMPT]          writes both and says that the work is complete
#   sh agent.sh --lie [PROMPT]    writes nothing and says the same
#   sh agent.sh --lie-once TASK   does so at its first attempt at that task
#
# CLEO_TASK_ID, CLEO_MANIFEST_ID and CLEO_OUTPUT_FILE say for what; without them, the file PROMPT
# does. CLEO_PROGRAM is the cleo to call, when it is not the one on the PATH.
set -eu

lie=
case "${1:-}" in
--lie)
    lie=yes
    shift
    ;;
--lie-once)
    if [ "${CLEO_TASK_ID:-}" = "$2" ] && mkdir lied 2>/dev/null; then lie=yes; fi
    shift 2
    ;;
esac

prompt=${1:-/dev/null}
task=${CLEO_TASK_ID:-$(sed -n 's/^Id: \([^ ]*\).*/\1/p' "$prompt")}
entry=${CLEO_MANIFEST_ID:-$(sed -n 's/^cleo manifest append --id \([^ ]*\) .*/\1/p' "$prompt")}
output=${CLEO_OUTPUT_FILE:-$(sed -n 's/^\*\*OUT-001\*\*[^`]*`\([^`]*\)`.*/\1/p' "$prompt")}
: "${task:?name a prompt, or set CLEO_TASK_ID}"
: "${entry:?name a prompt, or set CLEO_MANIFEST_ID}"
: "${output:?name a prompt, or set CLEO_OUTPUT_FILE}"

if [ -z "$lie" ]; then
    file=${output##*/}
    day=${file%%_*}

    cat >"$output" <<EOT
# $task, played by a script

## Summary

agent.sh wrote this file for $task. No AI took part, and nothing of the task was done.
EOT

    "${CLEO_PROGRAM:-cleo}" manifest append --format text --quiet >/dev/null <<EOT
{"id":"$entry","file":"$file","title":"$task, played by a script","date":"$day","status":"complete","topics":["demo"],"key_findings":["A script stood in for the agent of $task.","It wrote one output file and this entry.","The work that $task describes is still to be done."],"actionable":false,"needs_followup":[],"linked_tasks":["$task"]}
EOT
fi

echo 'Task complete. See MANIFEST.jsonl for summary.'
