#!/bin/sh
# Two agents, ada and bob, work through an epic at the same time. There is no dispatcher: each
# claims its next one. Ends when nothing is left, or when one of them fails.
#
#   sh team.sh EPIC
set -eu

here=$(dirname "$0")
sh "$here/worker.sh" ada "$1" >ada.log 2>&1 &
first=$!
sh "$here/worker.sh" bob "$1" >bob.log 2>&1 &
second=$!
wait "$first"
wait "$second"
