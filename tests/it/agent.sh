#!/bin/sh
# Plays an agent. Its first argument says how it behaves; what it does is told by its environment alone,
# as real agents know it.
set -u
# Hostile settings of git (`with_hostile_git`) are for cleo's own git: what this one does with git is not tested.
[ ! -e "${HOME-}/hooks/gpg" ] || export GIT_CONFIG_GLOBAL=/dev/null
name=${CLEO_OUTPUT_FILE##*/}
outputs=$CLEO_ROOT/claudedocs/agent-outputs
here=$CLEO_ROOT/.played
mkdir -p "$here"
# How often this task was played, this time included.
echo "$$" >>"$here/$CLEO_TASK_ID"
round=$(wc -l <"$here/$CLEO_TASK_ID")

write_file() {
    printf '# Work on %s\n\n## Summary\n\nIt was done.\n' "$CLEO_TASK_ID" >"$CLEO_OUTPUT_FILE"
}

# $1: status, $2: task
write_line() {
    printf '{"id":"%s","file":"%s","title":"Work","date":"2026-01-26","status":"%s","topics":["x"],"key_findings":["It works.","It is fast.","It is small."],"actionable":false,"needs_followup":[],"linked_tasks":["%s"]}\n' \
        "$CLEO_MANIFEST_ID" "$name" "$1" "$2" >>"$outputs/MANIFEST.jsonl"
}

work() {
    write_file
    write_line complete "$CLEO_TASK_ID"
}

say() {
    case $1 in
    complete) what=summary ;;
    partial) what=details ;;
    *) what='blocker details' ;;
    esac
    echo "Task $1. See MANIFEST.jsonl for $what."
}

chat() {
    echo "All is done. See $CLEO_OUTPUT_FILE!"
}

case $1 in
works) work && say complete ;;
# Works, and takes away what an earlier task has left.
wrecks)
    [ "$CLEO_TASK_ID" = T2 ] || { : >"$outputs/MANIFEST.jsonl" && rm "$outputs"/*.md; }
    work && say complete
    ;;
# Works, and proves more of an earlier task.
proves-more)
    [ "$CLEO_TASK_ID" = T2 ] || cleo verify T2 --gate implemented --note 'I read it' >"$here/proved" 2>&1
    work && say complete
    ;;
# Works, while a person opens an earlier task again.
reopens)
    [ "$CLEO_TASK_ID" = T2 ] || env -u CLEO_RUN_ID -u CLEO_AGENT -u CLEO_TASK_ID cleo reopen T2 >"$here/reopened" 2>&1
    work && say complete
    ;;
# Works, and makes the manifest unreadable.
spoils)
    work
    [ "$CLEO_TASK_ID" = T2 ] || { rm "$outputs/MANIFEST.jsonl" && mkdir "$outputs/MANIFEST.jsonl"; }
    say complete
    ;;
# Works, and takes away what its task and the next have to pass.
lightens)
    cleo update "$CLEO_TASK_ID" --clear acceptance >"$here/lightened" 2>&1
    cleo update T3 --clear required-gates >>"$here/lightened" 2>&1
    work && say complete
    ;;
# Shows, where `false` succeeds, that its task and the epic are done, then works or does not end the first time.
forges)
    forged=$CLEO_ROOT/../forged
    mkdir -p "$forged" && printf '#!/bin/sh\nexit 0\n' >"$forged/false" && chmod +x "$forged/false"
    work
    for task in "$CLEO_TASK_ID" T1; do
        PATH=$forged:$PATH cleo verify "$task" --run-all >"$forged/$task" 2>&1
    done
    [ "$round" -gt 1 ] || [ -z "${2:-}" ] || { : >"$forged/hangs" && exec sleep 600; }
    say complete
    ;;
# Has each agent take the criteria of T3 away as if a user had.
lightens-later)
    env -u CLEO_RUN_ID -u CLEO_TASK_ID -u CLEO_EPOCH CLEO_AGENT=alice cleo update T3 --clear acceptance >"$here/lightened" 2>&1
    work && say complete
    ;;
# Works, and somebody gives a later task a criterion.
burdens-later)
    [ "$CLEO_TASK_ID" != T2 ] || env -u CLEO_RUN_ID -u CLEO_TASK_ID -u CLEO_EPOCH CLEO_AGENT=alice \
        cleo update T3 --acceptance 'It is made :: touch made' >"$here/burdened" 2>&1
    work && say complete
    ;;
# The first agent takes a criterion of a later task away, and hangs.
lightens-later-and-hangs)
    env -u CLEO_RUN_ID -u CLEO_TASK_ID -u CLEO_EPOCH CLEO_AGENT=alice cleo update T3 --clear acceptance >"$here/lightened" 2>&1
    [ -e "$here/hangs" ] || { : >"$here/hangs" && exec sleep 600; }
    work && say complete
    ;;
# The agent of T2 wants to complete other tasks, with proof of its own and by force.
completes-others)
    if [ "$CLEO_TASK_ID" = T2 ]; then
        { cleo complete T3; cleo complete T5; cleo complete T1; cleo complete T3 --force; cleo complete T1 --force; } \
            >"$here/others" 2>&1
    fi
    work && say complete
    ;;
# The agent of T2 wants to complete T3 through a run of its own.
completes-nested)
    if [ "$CLEO_TASK_ID" = T2 ]; then
        env -u CLEO_EPOCH -u CLEO_TASK_ID cleo run T6 --repair 0 \
            --command "sh -c 'cleo complete T3 --force >$here/nested 2>&1'" >"$here/outer" 2>&1
    fi
    work && say complete
    ;;
# The agent of T2 reaches for tasks that are not its own, while T6 is worked on.
meddles)
    if [ "$CLEO_TASK_ID" = T2 ]; then
        until [ -e "$here/T6" ]; do sleep 0.02; done
        for words in 'claim T3' 'start T3' 'spawn T6 --again' 'update T6 --title x' 'add Odd --parent T6' 'release T6' 'cancel T6' 'complete T7 --force' \
            'add Part --parent T2' 'update T8 --parent T6' 'start T8' 'complete T8'; do
            cleo $words >/dev/null 2>&1
            echo "$? $words" >>"$here/meddling"
        done
        mv "$here/meddling" "$here/meddled"
    elif [ "$CLEO_TASK_ID" = T6 ]; then
        until [ -e "$here/meddled" ]; do sleep 0.02; done
    fi
    work && say complete
    ;;
# The agent of T1 answers for the agent of T2, which only says that it is done.
answers-for-other)
    if [ "$CLEO_TASK_ID" = T2 ]; then
        echo "$CLEO_MANIFEST_ID $name" >"$here/asks" && mv "$here/asks" "$here/asked"
        until [ -e "$here/answered" ]; do sleep 0.02; done
    else
        until [ -e "$here/asked" ]; do sleep 0.02; done
        (
            read -r CLEO_MANIFEST_ID name <"$here/asked"
            CLEO_OUTPUT_FILE=${CLEO_OUTPUT_FILE%/*}/$name write_file
            outputs=$here write_line complete T2
        )
        cleo manifest append <"$here/MANIFEST.jsonl" >"$here/answers" 2>&1
        mv "$here/answers" "$here/answered"
        work
    fi
    say complete
    ;;
# Has the first agent put something else in the place of the outputs.
obstructs)
    if [ "$CLEO_TASK_ID" = T1 ]; then
        rm -rf "${CLEO_OUTPUT_FILE%/*}" && : >"${CLEO_OUTPUT_FILE%/*}"
    else
        work
    fi
    say complete
    ;;
# Does nothing, and says that it did everything.
lies) say complete ;;
# Lies once, then works.
lies-once)
    [ "$round" -eq 1 ] || work
    say complete
    ;;
# Works, and ends as if it had failed.
crashes-late) work && exit 3 ;;
crashes) echo "out of luck" >&2 && exit 3 ;;
crashes-once)
    [ "$round" -gt 1 ] || exit 3
    work
    ;;
dies) kill -9 $$ ;;
hangs) sleep 600 ;;
partial) write_file && write_line partial "$CLEO_TASK_ID" && say partial ;;
blocked) write_file && write_line blocked "$CLEO_TASK_ID" && say blocked ;;
# Works, and ends with other words than it should.
chats) work && chat ;;
wraps) work && echo "$(say complete) I am glad that I could help." ;;
completes-and-chats) work && cleo complete "$CLEO_TASK_ID" >/dev/null && chat ;;
# The same once, then ends with the right words.
chats-once)
    [ "$round" -gt 1 ] && say complete && exit 0
    work && chat
    ;;
completes-and-chats-once)
    [ "$round" -gt 1 ] && say complete && exit 0
    work && cleo complete "$CLEO_TASK_ID" >/dev/null && chat
    ;;
# Prints something, and says nothing of its work where that is listened to.
mutters) work && chat >&2 ;;
# Ends in the middle of its line, and mends that when it is told.
torn)
    write_file
    [ "$round" -eq 1 ] && printf '{"id":"%s","fi' "$CLEO_MANIFEST_ID" >>"$outputs/MANIFEST.jsonl" && exit 0
    echo >>"$outputs/MANIFEST.jsonl"
    write_line complete "$CLEO_TASK_ID"
    ;;
# Links its line to somebody else's task.
foreign) write_file && write_line complete T1 ;;
# Leaves children behind that hold its pipes, one in a group of its own.
leaves)
    work
    sleep 600 &
    setsid sleep 600 &
    ;;
# Leaves a child behind of which nothing tells where it comes from.
hides)
    work
    # A mark of its own is as good as none.
    [ "$CLEO_TASK_ID" = T3 ] && mark=CLEO_MARK=own.
    env -i ${mark-} setsid sh -c 'echo $$ >>"$0/hidden"; : >"$0/hidden-$1"; exec sleep 600' "$here" "$CLEO_TASK_ID" &
    until [ -e "$here/hidden-$CLEO_TASK_ID" ]; do sleep 0.02; done
    ;;
# Writes 100 MB.
talks)
    work
    yes 'a line that says nothing, and says it again and again' | head -c 6000000
    echo && say complete
    ;;
# Waits until the file of another task is there: only side by side can both end.
meets)
    work
    : >"$here/met-$CLEO_TASK_ID"
    until [ -e "$here/met-$2" ] || [ -e "$here/met-$3" ] && [ "$(ls "$here" | grep -c met-)" -gt 1 ]; do sleep 0.02; done
    ;;
# Has its task taken away and goes on writing, as one that hung for too long.
late)
    trap '' TERM
    cleo release "$CLEO_TASK_ID" --force >/dev/null 2>&1
    env -u CLEO_EPOCH -u CLEO_RUN_ID CLEO_AGENT=other cleo claim "$CLEO_TASK_ID" >/dev/null 2>&1
    work
    cleo complete "$CLEO_TASK_ID" >"$here/late" 2>&1
    echo "$?" >>"$here/late"
    ;;
# Has its task taken away, and will not stop.
clings)
    trap '' TERM
    echo "$$" >"$here/clings"
    cleo release "$CLEO_TASK_ID" --force >/dev/null 2>&1
    while :; do sleep 1; done
    ;;
# Does not end, then does nothing, then works.
hangs-lies-works)
    [ "$round" -gt 1 ] || { : >"$here/hung" && sleep 600; }
    [ "$round" -gt 2 ] && work
    say complete
    ;;
# Commits everything that it wrote by itself, its report too.
commits) echo "$CLEO_TASK_ID" >"$CLEO_TASK_ID.txt" && work && git add --all &&
    git -c user.name=a -c user.email=a@b commit --quiet --message mine ;;
# Changes a file on a branch of its own.
branches) git checkout --quiet -b "mine-$CLEO_TASK_ID" && echo "$CLEO_TASK_ID" >"$CLEO_TASK_ID.txt" && git add "$CLEO_TASK_ID.txt" &&
    git -c user.name=a -c user.email=a@b commit --quiet --message mine && work ;;
# Commits its work, then looks at what was there before and stays there.
looks-back) echo "$CLEO_TASK_ID" >"$CLEO_TASK_ID.txt" && git add "$CLEO_TASK_ID.txt" &&
    git -c user.name=a -c user.email=a@b commit --quiet --message mine && git checkout --quiet --detach HEAD~1 && work ;;
# Writes a file whose name is that of another one in capitals.
shouts) echo "$CLEO_TASK_ID" >SHARED.txt && work ;;
# Moves its worktree elsewhere.
moves) work && git worktree move "$PWD" "$here/moved" ;;
# Has git read its attributes from an empty tree.
blinds) git config attr.tree "$(git mktree </dev/null)" && work ;;
# Works, and leaves a merge, a cherry-pick or a revert that has stopped at a conflict, perhaps settled.
stops)
    work
    own=$(git symbolic-ref --short HEAD)
    commit='git -c user.name=a -c user.email=a@b commit --quiet --all --message'
    git checkout --quiet -b "other-$CLEO_TASK_ID" && echo other >shared.txt && $commit other
    git checkout --quiet "$own" && echo own >shared.txt && $commit own
    git -c user.name=a -c user.email=a@b "$2" "other-$CLEO_TASK_ID" >"$here/stopped" 2>&1
    [ -z "${3:-}" ] || echo "$3" >shared.txt
    say complete
    ;;
# Makes a repository of its own out of its worktree.
defects) rm -rf .git && git init --quiet && echo "$CLEO_TASK_ID" >"$CLEO_TASK_ID.txt" && work ;;
# Works in full, and does not end.
edits-works-and-hangs) work && echo "$CLEO_TASK_ID" >"$CLEO_TASK_ID.txt" && : >"$here/edited-$CLEO_TASK_ID" && sleep 600 ;;
# Plants a link where the output of the next try is to lie.
plants)
    [ "$round" -gt 1 ] && work && exit 0
    ln -s "$CLEO_ROOT/precious" "$CLEO_ROOT/.cleo/runs/$CLEO_RUN_ID/$CLEO_TASK_ID-2.out"
    ln -s "$CLEO_ROOT/precious" "$CLEO_ROOT/.cleo/runs/$CLEO_RUN_ID/$CLEO_TASK_ID-2.prompt.md"
    ;;
# Asks for its task to be completed, as its skill may tell it to.
completes) work && cleo complete "$CLEO_TASK_ID" >/dev/null ;;
# Does the same, and stays for a while.
completes-and-stays) work && cleo complete "$CLEO_TASK_ID" >/dev/null && sleep 1.5 && echo to the end >"$here/stayed" ;;
# Wants to complete its task by force and does nothing, or does it after that.
forces) cleo complete "$CLEO_TASK_ID" --force >"$here/forced" 2>&1; say complete ;;
forces-and-works) cleo complete "$CLEO_TASK_ID" --force >/dev/null 2>&1; work && say complete ;;
# The same under another name, with the claim of the run and without it.
forces-unnamed) env -u CLEO_AGENT cleo complete "$CLEO_TASK_ID" --force >/dev/null 2>&1; say complete ;;
forces-unclaimed) env -u CLEO_EPOCH CLEO_AGENT=alice cleo complete "$CLEO_TASK_ID" --force >/dev/null 2>&1; say complete ;;
# Wants to complete its task by force once and does not end, then works.
forces-and-hangs-once)
    [ "$round" -gt 1 ] && work && say complete && exit 0
    cleo complete "$CLEO_TASK_ID" --force >/dev/null 2>&1; : >"$here/forced" && sleep 600
    ;;
# Somebody else completes its task by force, and it does not end.
is-overruled-and-hangs)
    env -u CLEO_RUN_ID -u CLEO_TASK_ID -u CLEO_EPOCH CLEO_AGENT=alice cleo complete "$CLEO_TASK_ID" --force >/dev/null
    : >"$here/forced" && sleep 600
    ;;
# Ends with other words than it should, does not end when it is told so, then ends with the right ones.
chats-and-hangs)
    [ "$round" -gt 2 ] && work && say complete && exit 0
    [ "$round" -gt 1 ] && : >"$here/told" && sleep 600
    work && chat
    ;;
# Does nothing while somebody else completes its task by force.
is-overruled)
    env -u CLEO_RUN_ID -u CLEO_TASK_ID -u CLEO_EPOCH CLEO_AGENT=alice cleo complete "$CLEO_TASK_ID" --force >/dev/null
    say complete
    ;;
# Calls cleo run within cleo run.
nests) cleo run "$2" --command true >"$here/nested" 2>&1 ;;
# Works, keeps its prompt, and completes its task as it is told.
listens)
    cat >"$here/prompt-$round"
    work && cleo complete "$CLEO_TASK_ID" >"$here/completed" 2>&1
    say complete
    ;;
# Shows what it was given.
shows)
    env | grep -E '^(CLEO_|TRACEPARENT)' | sort >"$here/environment"
    cat >"$here/prompt-$round"
    [ "$round" -eq 1 ] || work
    ;;
slowly) sleep 0.05 && work ;;
# Changes a file of its own in the folder that it works in.
edits) work && echo "$CLEO_TASK_ID" >"$CLEO_TASK_ID.txt" ;;
# Works and changes a file; before that the first task has the user run a command in their checkout.
meanwhile)
    [ "$CLEO_TASK_ID" != T1 ] || (cd "$CLEO_ROOT" && eval "$2") >"$here/meanwhile" 2>&1
    work && echo "$CLEO_TASK_ID" >"$CLEO_TASK_ID.txt"
    ;;
# Commits its work, and has git take its branch for merged.
grafts)
    work && echo "$CLEO_TASK_ID" >"$CLEO_TASK_ID.txt" && git add "$CLEO_TASK_ID.txt"
    git -c user.name=a -c user.email=a@b commit --quiet --message work
    mkdir -p "$CLEO_ROOT/.git/info" && echo "$(git rev-parse main HEAD | xargs)" >"$CLEO_ROOT/.git/info/grafts"
    ;;
# Does the same, and changes a file that is there.
meanwhile-all)
    (cd "$CLEO_ROOT" && eval "$2") >"$here/meanwhile" 2>&1
    work && echo "$CLEO_TASK_ID" >"$CLEO_TASK_ID.txt" && echo "$CLEO_TASK_ID" >shared.txt
    ;;
# Makes a file of a folder and a folder of a file.
swaps) work && rm -r folder file && mkdir file && echo "$CLEO_TASK_ID" >folder && echo "$CLEO_TASK_ID" >file/in ;;
# Changes the same file as another one, which has begun by then.
clashes)
    work
    : >"$here/met-$CLEO_TASK_ID"
    until [ "$(ls "$here" | grep -c met-)" -gt 1 ]; do sleep 0.02; done
    echo "$CLEO_TASK_ID" >shared.txt
    ;;
# Changes a file and never comes to an end.
edits-and-hangs) echo "$CLEO_TASK_ID" >"$CLEO_TASK_ID.txt" && : >"$here/edited" && sleep 600 ;;
# Makes a repository of its own within its worktree.
embeds) mkdir -p lib && git -C lib init --quiet && echo "$CLEO_TASK_ID" >lib/x && git -C lib add x &&
    git -C lib -c user.name=a -c user.email=a@b commit --quiet --message own && work ;;
# Makes a folder named as that of a repository, which git passes over.
names-git) mkdir -p "$2/.git" && echo "$CLEO_TASK_ID" >"$2/.git/config" && echo "$CLEO_TASK_ID" >"$2/x" && work ;;
# Leaves the index of its worktree locked by what no git makes.
locks) echo "$CLEO_TASK_ID" >"$CLEO_TASK_ID.txt" && mkdir "$(git rev-parse --git-dir)/index.lock" && work ;;
# Removes what makes its folder a worktree.
unmarks) echo "$CLEO_TASK_ID" >"$CLEO_TASK_ID.txt" && rm .git && work ;;
# Works, while somebody else writes the same output in the workspace.
crosses) work && echo "$CLEO_TASK_ID" >"$CLEO_TASK_ID.txt" && echo theirs >"$outputs/$name" ;;
# Changes a file that others change too and never comes to an end, and works the next time.
clashes-and-hangs-once)
    [ "$round" -gt 1 ] && work && echo "$CLEO_TASK_ID" >"$CLEO_TASK_ID.txt" && exit 0
    echo "$CLEO_TASK_ID" >shared.txt && : >"$here/edited" && sleep 600
    ;;
# Asks cleo whether its work holds, as its prompt and its hooks do, and completes its task itself.
asks)
    work
    cleo verify output "$CLEO_TASK_ID" >/dev/null && echo verified >>"$here/asked"
    printf '{"session_id":"s","cwd":"%s"}' "$PWD" | cleo hook stop >>"$here/asked"
    cleo complete "$CLEO_TASK_ID" >/dev/null && echo completed >>"$here/asked"
    echo "$CLEO_TASK_ID" >"$CLEO_TASK_ID.txt"
    ;;
# Completes its task itself, after it has changed what others change too.
clashes-and-completes)
    work
    : >"$here/met-$CLEO_TASK_ID"
    until [ "$(ls "$here" | grep -c met-)" -gt 1 ]; do sleep 0.02; done
    echo "$CLEO_TASK_ID" >shared.txt
    cleo verify output "$CLEO_TASK_ID" >/dev/null
    cleo complete "$CLEO_TASK_ID" >/dev/null
    ;;
# Changes a file that is there.
alters) work && echo "$CLEO_TASK_ID" >shared.txt ;;
# Does the same to a file that it has marked in the index of git.
marks) git update-index "$2" shared.txt && echo "$CLEO_TASK_ID" >shared.txt && work ;;
# Makes a file that git ignores.
builds) work && mkdir -p build && echo "$CLEO_TASK_ID" >build/out.bin && echo "$CLEO_TASK_ID" >build/cache ;;
# Writes an output in a folder below the others.
spreads) work && folder=${CLEO_OUTPUT_FILE%/*}/data/deep && mkdir -p "$folder" && echo "$CLEO_TASK_ID" >"$folder/x.csv" ;;
# Does the same, and makes a file of the repository.
spreads-and-makes)
    work && folder=${CLEO_OUTPUT_FILE%/*}/data && mkdir -p "$folder" && echo "$CLEO_TASK_ID" >"$folder/x.csv"
    echo "$CLEO_TASK_ID" >"$CLEO_TASK_ID.txt"
    ;;
# Does the same with other outputs in each try.
spreads-anew)
    work
    echo "round $round" >>"$CLEO_OUTPUT_FILE"
    folder=${CLEO_OUTPUT_FILE%/*}/data && mkdir -p "$folder" && echo "$CLEO_TASK_ID" >"$folder/$round.csv"
    ;;
# Writes an output with a name as of a draft, and a link to it.
links)
    work
    echo "$CLEO_TASK_ID" >"$CLEO_TASK_ID.txt"
    folder=${CLEO_OUTPUT_FILE%/*}/data && mkdir -p "$folder" && echo "$CLEO_TASK_ID" >"$folder/.cleo-new-x.csv" &&
        ln -s .cleo-new-x.csv "$folder/last.csv"
    ;;
# Changes a file, and writes where cleo has its own.
scratches) work && echo "$CLEO_TASK_ID" >"$CLEO_TASK_ID.txt" && mkdir -p .cleo/runs && : >.cleo/runs/scratch ;;
# Spreads its outputs, while somebody else writes one of them in the workspace.
spreads-and-crosses)
    work
    for place in "${CLEO_OUTPUT_FILE%/*}" "$outputs"; do
        mkdir -p "$place/data" && echo "$place" >"$place/data/x.csv"
    done
    ;;
# Removes its worktree with nothing in it, and works the next time.
removes-once)
    [ "$round" -gt 1 ] && work && echo "$CLEO_TASK_ID" >"$CLEO_TASK_ID.txt" && exit 0
    rm -rf "$PWD"
    ;;
# Commits its work and removes its worktree, with its report in the workspace.
removes)
    echo "$CLEO_TASK_ID" >"$CLEO_TASK_ID.txt" && git add "$CLEO_TASK_ID.txt" &&
        git -c user.name=a -c user.email=a@b commit --quiet --message mine && work &&
        mv "$CLEO_OUTPUT_FILE" "$outputs/" && rm -rf "$PWD"
    ;;
*) echo "nobody plays $1" >&2 && exit 64 ;;
esac
