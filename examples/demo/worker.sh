#!/bin/sh
# Plays a worker in `cleo demo`. This is a script and no AI: it reads a request of cleo as JSON, and answers with words
# that were written beforehand.
#
#   sh worker.sh planner|web-crawler|summarizer
set -eu

# The request is one line, and its id is a UUID.
id=$(sed -n 's/.*"request_id":"\([0-9a-f-]*\)".*/\1/p')
case $1 in
planner) said='Read the pages, list their links, ask for each once, report the dead ones.' ;;
web-crawler) said='A link is dead at 404 and 410; at 429 and 503 it is asked for again later.' ;;
summarizer) said='The links of a page are listed, each is asked for once, and 404 and 410 count as dead. [done]' ;;
*) echo "there is no such worker: $1" >&2 && exit 2 ;;
esac
printf '{"request_id":"%s","agent_name":"%s","status":"success","output":{"result":"(simulated) %s"},"error":null}\n' \
    "$id" "$1" "$said"
