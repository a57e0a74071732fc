//! Every error code: provoked in a workspace of its own, its `fix` run in a shell, and everything that
//! has changed since compared with what the row declares. A fix never surprises anybody.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::{fs, thread};

use rusqlite::Connection;
use serde_json::Value;

use crate::served::{Served, body};
use crate::world::{Reply, TestWorkspace, document, skip};

/// How an error is provoked.
enum Way {
    /// A line for a shell, in the workspace.
    Line(&'static str),
    /// Options of `cleo serve`, and a request: its line, further headers and a body.
    Call(&'static str, &'static str, &'static str, &'static str),
    /// It cannot be provoked from outside, for this reason.
    Never(&'static str),
}

struct Row {
    code: &'static str,
    /// A line for a shell that makes ready; after `sql:` a change of the database.
    setup: &'static str,
    way: Way,
    /// The fix, empty for none; `*` at its end matches an id that differs.
    fix: &'static str,
    /// Exit code of the fix; what it shows may be the same fault.
    exit: i32,
    /// Changes by the fix: beginnings of paths, `~/` for those of the home, and of `task T1`,
    /// `run`, `session`.
    changes: &'static [&'static str],
}

const fn row(code: &'static str, setup: &'static str, line: &'static str) -> Row {
    Row {
        code,
        setup,
        way: Way::Line(line),
        fix: "",
        exit: 0,
        changes: &[],
    }
}

const fn never(code: &'static str, reason: &'static str) -> Row {
    let mut row = row(code, "", "");
    row.way = Way::Never(reason);
    row
}

const fn call(
    code: &'static str,
    options: &'static str,
    request: &'static str,
    headers: &'static str,
    body: &'static str,
) -> Row {
    let mut row = row(code, "", "");
    row.way = Way::Call(options, request, headers, body);
    row
}

impl Row {
    const fn fix(mut self, fix: &'static str) -> Row {
        self.fix = fix;
        self
    }

    const fn exit(mut self, exit: i32) -> Row {
        self.exit = exit;
        self
    }

    const fn changes(mut self, changes: &'static [&'static str]) -> Row {
        self.changes = changes;
        self
    }
}

/// Functions used by lines of the table.
const SHELL: &str = r#"
M=claudedocs/agent-outputs/MANIFEST.jsonl
entry() { cleo manifest append --id "$1" --file "$1.md" --title x --topic a --finding 1 --finding 2 --finding 3 --task T2; }
skill() { mkdir -p skills/own && printf -- "---\nname: own\ndescription: $1\n$2---\n$3\n" > skills/own/SKILL.md; }
"#;

/// Programs that only say where something is say nothing where it is not.
const ROWS: &[Row] = &[
    never("E_INTERNAL", "it is a bug of cleo"),
    row("E_USAGE", "", "cleo shwo T2"),
    row("E_INPUT_INVALID", "", "cleo archive --older-than long"),
    call("E_METHOD_REFUSED", "", "PATCH /api/work/log", "", ""),
    call("E_BODY_TOO_LARGE", "--max-body 10", "POST /api/work/import", "content-type: application/json\r\n", "{\"title\":\"longer\"}"),
    call("E_MEDIA_TYPE", "", "POST /api/work/import", "content-type: text/plain\r\n", "{}"),
    row("E_FILE_UNREADABLE", "", "cleo add --batch no/such.jsonl").fix("ls -ld ."),
    row("E_FILE_UNWRITABLE", "", "cleo run T2 --command true --junit gone/junit.xml")
        .fix("mkdir -p [WORKSPACE]/gone").changes(&["gone"]),
    row("E_ANSWER_LOST", "", "cleo list > /dev/full").fix("cleo list"),
    row("E_FILE_CHANGED", "cleo init --agents claude && sed -i s/model:/modal:/ .claude/agents/*", "cleo init --agents claude"),
    row("E_STORE_CORRUPT", "yes damaged | head -c 20000 > .cleo/cleo.db", "cleo list").fix("cleo explain E_STORE_CORRUPT"),
    row("E_STORE_FOREIGN", "sql: CREATE VIEW x AS SELECT * FROM tasks", "cleo list").fix("cleo explain E_STORE_FOREIGN"),
    row("E_ROW_DAMAGED", "sql: UPDATE tasks SET extra = 'no JSON' WHERE number = 4", "cleo show T4").fix("cleo doctor").exit(6),
    row("E_STORE_READ_ONLY", "", "unshare -rm sh -c 'mount --bind . . && mount -o remount,bind,ro . && cd \"$PWD\" && cleo add x'")
        .fix("ls -ld [WORKSPACE]/.cleo"),
    row("E_DISK_FULL", "", "ulimit -f 8; cleo add x").fix("df -h [WORKSPACE]/.cleo"),
    row("E_PATH_OUTSIDE_WORKSPACE", "echo x > ../outside", "cleo verify T2 --gate implemented --file ../outside"),
    row("E_TREE_UNKNOWN", "git init -q . && git init -q ../other", "cd ../other && cleo --root ../work verify T2").fix("cd [WORKSPACE]"),
    row("E_TREE_UNKNOWN", "git init -q .", "CLEO_TASK_ID=T2 CLEO_WORKTREE=/usr cleo verify T2 --run-all").fix("git worktree list"),
    row("E_WORKSPACE_NOT_FOUND", "rm -r .cleo", "cleo list").fix("cleo init").changes(&[".cleo", "session", "run", "task", "operation"]),
    row("E_TASK_NOT_FOUND", "", "cleo show T99").fix("cleo list"),
    row("E_AGENT_NOT_FOUND", "", "cleo agents show nobody").fix("cleo agents list"),
    row("E_RUN_NOT_FOUND", "", "cleo runs show run_1").fix("cleo runs list"),
    row("E_CONVERSATION_NOT_FOUND", "", "cleo conversations show conv_1").fix("cleo conversations list"),
    row("E_SKILL_NOT_FOUND", "", "cleo skills show resaerch").fix("cleo skills list"),
    row("E_ENTRY_NOT_FOUND", "", "cleo manifest show nothing").fix("cleo manifest list"),
    row("E_RECEIPT_NOT_FOUND", "", "cleo why T2").fix("cleo spawn T2").changes(&["operation 2", "receipt T2"]),
    row("E_OPERATION_NOT_FOUND", "", "cleo undo 99").fix("cleo log"),
    row("E_CODE_NOT_FOUND", "", "cleo explain E_CYCEL").fix("cleo help exit-codes"),
    row("E_NOTHING_READY", "cleo cancel T2", "cleo claim --next").fix("cleo orchestrator waves"),
    row("E_NOTHING_READY", "rm -r .cleo && cleo init", "cleo claim --next"),
    row("E_PHASE_NOT_FOUND", "", "cleo phase start discovry").fix("cleo phase list"),
    row("E_DEPENDENCY_NOT_FOUND", "", "cleo add x --depends T99").fix("cleo list"),
    row("E_TOKEN_NOT_FOUND", "", "cleo serve token revoke tok_1").fix("cleo serve token list"),
    call("E_PATH_NOT_FOUND", "", "GET /api/nothing", "", ""),
    row("E_PROGRAM_MISSING", "", "cleo run T2 --command no-such-program").fix("cleo doctor"),
    row("E_PLAN_INVALID", "echo 'steps: 5' > plan.yaml", "cleo plan check plan.yaml"),
    row("E_TASK_INVALID", "", "cleo add ''"),
    row("E_FIELD_UNKNOWN", r#"echo '{"titel":"x"}' > tasks.jsonl"#, "cleo add --batch tasks.jsonl")
        .fix("sed -n 1p tasks.jsonl | cut -c1-200"),
    row("E_TEXT_CONTROL", "", r#"cleo add "$(printf 'a\007b')""#),
    row("E_TEXT_TOO_LONG", "", r#"cleo add "$(printf %0600d 0)""#),
    row("E_BATCH_INVALID", "echo > tasks.jsonl", "cleo add --batch tasks.jsonl"),
    row("E_IMPORT_INVALID", r#"echo '{"id":"b-1","title":" ","issue_type":"task"}' > b.jsonl"#, "cleo import b.jsonl --from beads")
        .fix("cleo import b.jsonl --from beads --drop-faults --dry-run"),
    row("E_SKILL_INVALID", "skill 'Use when: x' '' ''", "cleo spawn T2 --template own")
        .fix("cleo skills validate [WORKSPACE]/skills/own/SKILL.md").exit(6),
    row("E_SKILL_INACTIVE", r"skill x 'metadata:\n  cleo-status: inactive\n' ''", "cleo spawn T2 --template own"),
    row("E_CATALOGUE_INVALID", r#"mkdir protocols && printf -- '---\nname: house\nversion: "1"\norder: "x"\nwhen:\n  always: "true"\n---\n' > protocols/house.md"#, "cleo spawn T2")
        .fix("cat -n [WORKSPACE]/protocols/house.md"),
    row("E_TOKEN_INVALID", "", "cleo spawn T2 --date today"),
    row("E_TOKENS_UNRESOLVED", "skill x '' '{{ZED}}'", "cleo spawn T2 --template own --strict")
        .fix("cleo orchestrator spawn T2 --template own").changes(&["operation 2", "receipt T2"]),
    row("E_AGENT_INVALID", "", "cleo agents register x --timeout-ms 1"),
    row("E_ENTRY_INVALID", "", r#"echo '{"id":"x"}' | cleo manifest append"#),
    row("E_MANIFEST_INVALID", "entry a && echo no >> $M", "cleo manifest validate")
        .fix("cleo manifest compact").changes(&["claudedocs/agent-outputs/MANIFEST."]),
    row("E_LINE_TORN", r#"entry a && printf '{"id":"b","file' >> $M"#, "cleo manifest validate")
        .fix("cleo manifest compact").changes(&["claudedocs/agent-outputs/MANIFEST."]),
    row("E_LINE_FOREIGN", "entry a && echo no >> $M", "cleo manifest validate")
        .fix("cleo manifest compact").changes(&["claudedocs/agent-outputs/MANIFEST."]),
    row("E_LINE_TOO_LONG", r#"entry a && printf '{"id":"%02000000d"}\n' 0 >> $M"#, "cleo manifest validate")
        .fix("cleo manifest compact").changes(&["claudedocs/agent-outputs/MANIFEST."]),
    row("E_LINE_DUPLICATE", "entry a && cp $M copy && cat copy >> $M", "cleo manifest validate")
        .fix("cleo manifest compact").changes(&["claudedocs/agent-outputs/MANIFEST."]),
    row("E_NOT_VERIFIED", "cleo spawn T2", "cleo complete T2").fix("cleo verify output T2").exit(62),
    row("E_STATUS_REFUSED", "cleo complete T2", "cleo start T2").fix("cleo reopen T2").changes(&["task T2", "operation"]),
    call("E_TASK_CHANGED", "", "PATCH /api/work/tasks/T2", "content-type: application/json\r\nif-match: \"2020-01-01T00:00:00.000Z\"\r\n", "{\"title\":\"x\"}")
        .fix("cleo show T2"),
    call("E_OTHER_WORKSPACE", "", "POST /api/work/tasks", "content-type: application/json\r\ncleo-workspace: sha256-x\r\n", "{\"title\":\"x\"}"),
    row("E_NOT_READY", "", "cleo claim T3").fix("cleo claim --next").changes(&["task T2", "operation"]),
    row("E_UNDO_CONFLICT", "cleo update T2 --title one && cleo update T2 --title two", "cleo undo 2")
        .fix("cleo log --operation 3"),
    row("E_NOTHING_TO_UNDO", "", "CLEO_AGENT=other cleo undo").fix("cleo log"),
    row("E_CHECKOUT_CHANGED", "git init -q -b main . && git config user.email a@b && git config user.name a && echo .cleo > .gitignore \
         && git add -A && git commit -qm x && ! cleo run T2 --isolate worktree --command false --repair 0 && git switch -qc other",
        "cleo runs resume $(cleo runs list --jq '.result.runs[0].id' | tr -d '\"')")
        .fix("git switch main").changes(&[".git/HEAD", ".git/logs/HEAD"]),
    row("E_DOCTOR_FOUND", "rm .cleo/cleo.db", "cleo doctor").fix("cleo explain E_STORE_CORRUPT"),
    row("E_GATE_FAILED", "", "cleo verify T2 --gate implemented --run false").fix("cleo verify T2"),
    row("E_GATE_OPEN", "cleo update T2 --require-gate implemented", "cleo complete T2").fix("cleo verify T2"),
    row("E_EVIDENCE_STALE", "echo a > a.rs && cleo update T2 --file a.rs --require-gate implemented && cleo verify T2 --gate implemented --run true \
         && echo b > a.rs", "cleo complete T2")
        .fix("cleo verify T2 --refresh").changes(&["operation"]),
    row("E_EVIDENCE_STALE", "echo a > a.rs && cleo update T2 --file a.rs --require-gate implemented && cleo verify T2 --gate implemented --note seen \
         && echo b > a.rs", "cleo verify T2 --refresh")
        .fix("cleo verify T2"),
    row("E_CRITERION_FAILED", "cleo add x --acceptance 'holds :: false'", "cleo verify T6 --run-all").fix("cleo verify T6"),
    row("E_CRITERION_OPEN", "cleo add x --acceptance 'holds :: true'", "cleo complete T6")
        .fix("cleo verify T6 --run-all").changes(&["operation"]),
    row("E_NOT_COMPLIANT", "cleo spawn T2 && cleo complete T2 --force", "cleo orchestrator validate").fix("cleo verify output T2").exit(62),
    row("E_GATE_ORDER", "", "cleo verify T2 --gate testsPassed --note seen").fix("cleo verify T2"),
    row("E_LOCK_TIMEOUT", "cleo serve token create", "flock ../home/.local/share/cleo/server-tokens cleo serve token create")
        .fix("cleo serve token list"),
    never("E_STORE_UNAVAILABLE", "a server that is not there is waited for, half a minute"),
    call("E_RATE_LIMITED", "--rate 1", "GET /api/work/next", "", ""),
    never("E_SERVER_BUSY", "it takes as many connections as a server bears"),
    row("E_CONFIG_INVALID", "", "CLEO_NOW=now cleo list").fix("unset CLEO_NOW"),
    row("E_CONFIG_INVALID", "echo 'list.limit: many' > .cleo/config.yaml", "cleo list").fix("sed -n 1p [WORKSPACE]/.cleo/config.yaml"),
    row("E_CLOCK", "CLEO_NOW=2026-01-26T12:00:00Z cleo claim T2", "cleo claim T2").fix("unset CLEO_NOW"),
    row("E_STORE_SCHEMA", "sql: PRAGMA user_version = 999", "cleo list").fix("cleo explain E_STORE_SCHEMA"),
    call("E_UNAUTHORIZED", "--ask-token", "GET /api/work/next", "", "")
        .fix("cleo serve token create").changes(&["~/.local"]),
    call("E_FORBIDDEN", "", "GET /api/work/next", "origin: http://evil.example\r\n", ""),
    row("E_PARENT_NOT_FOUND", "", "cleo add x --parent T99").fix("cleo list"),
    row("E_TOO_DEEP", "for level in 5 6 7 8 9 10; do cleo add x --parent T$level; done", "cleo add x --parent T11").fix("cleo list --tree"),
    row("E_RUN_NESTED", "", "CLEO_DEPTH=3 cleo run T2 --command true").fix("cleo runs list --status running"),
    row("E_CYCLE", "", "cleo update T2 --depends T4").fix("cleo deps T2"),
    row("E_HAS_CHILDREN", "cleo cancel T1", "cleo archive T1").fix("cleo list --parent T1 --tree"),
    row("E_SESSION_EXISTS", "cleo session start", "cleo session start").fix("cleo session status"),
    row("E_SESSION_NOT_FOUND", "", "cleo session resume S9").fix("cleo session list"),
    row("E_SCOPE_CONFLICT", "CLEO_AGENT=other cleo session start --scope T1", "cleo session start --scope T2")
        .fix("cleo session status --session S1"),
    row("E_SCOPE_INVALID", "cleo complete T2", "cleo session start --scope T2").fix("cleo reopen T2").changes(&["task T2", "operation"]),
    row("E_TASK_NOT_IN_SCOPE", "cleo session start --scope T2", "cleo focus T3").fix("cleo list --parent T2 --tree"),
    row("E_CLAIMED", "CLEO_AGENT=other cleo claim T2 && cleo add x", "cleo claim T2")
        .fix("cleo claim --next").changes(&["task T6", "operation"]),
    row("E_CLAIM_LOST", "", "cleo heartbeat T3").fix("cleo show T3"),
    row("E_SESSION_REQUIRED", "", "cleo session end").fix("cleo session start").changes(&["session S1", "operation"]),
    row("E_SESSION_CLOSE_BLOCKED", "CLEO_AGENT=other cleo session start", "cleo session end S1").fix("cleo session status --session S1"),
    row("E_GATE_UNKNOWN", "", "cleo verify T2 --gate implementd --note x").fix("cleo verify T2"),
    row("E_AGENT_UNKNOWN", "", "cleo verify T2 --gate implemented --note x --agent codr"),
    row("E_GATE_ROUNDS", "for round in 1 2 3 4 5; do ! cleo verify T2 --gate implemented --run false || exit 1; done",
        "cleo verify T2 --gate implemented --run false").fix("cleo show T2"),
    row("E_CONTEXT_CRITICAL", "", "printf %040000d 0 | cleo orchestrator context --stdin")
        .fix("cleo orchestrator brief --output HANDOVER.md").changes(&["HANDOVER.md"]),
    row("E_PROTOCOL_MISSING", "echo 'Do T2.' > prompt.md", "cleo verify prompt prompt.md"),
    row("E_PROTOCOL_MISSING", r#"skill x 'metadata:\n  cleo-protocol: "own"\n' '{{TASK_TITLE}}'"#, "cleo spawn T2 --template own")
        .fix("cleo orchestrator spawn T2 --template own --force-inject").changes(&["operation 2", "receipt T2"]),
    row("E_RETURN_MESSAGE", "", "cleo verify message 'I am done.'"),
    row("E_ENTRY_MISSING", "cleo spawn T2", "cleo verify output T2").fix("cleo manifest list --task T2"),
    row("E_OUTPUT_MISSING", "cleo spawn T2 && entry $(cleo why T2 --jq .result.receipt.manifestId | tr -d '\"')", "cleo verify output T2")
        .fix("cleo manifest list --task T2"),
    row("E_UNANSWERED", "", "cleo agents execute 'Help me design a layout'").fix("cleo doctor"),
    row("E_AGENT_FAILED", "cleo agents register Worker --command false --capability summarizer --intent summary.create", "cleo ask 'a summary'")
        .fix("cleo runs show exec_*"),
    row("E_AGENT_DOWN", "cleo agents register Broken --command false", "cleo agents check").fix("cleo agents show broken"),
    never("E_MODEL_UNREACHABLE", "a query tells it as E_AGENT_FAILED, a plan as a warning"),
    never("E_MODEL_REFUSED", "a query tells it as E_AGENT_FAILED, a plan as a warning"),
    never("E_MODEL_ANSWER", "a query tells it as E_AGENT_FAILED, a plan as a warning"),
    row("E_STEPS_FAILED", "", "cleo spawn T2 T99").fix("cleo list"),
    row("E_UNTRUSTED", "cleo add x --acceptance 'holds :: true' && rm -r ../home/.local", "cleo verify T6 --run-all").fix("cleo trust").exit(82),
    row("E_EXISTS", "entry a", "entry a").fix("cleo manifest show a"),
    row("E_RUN_TIMEOUT", "", "cleo run T2 --command 'sleep 60' --task-time-limit 1s --repair 0").fix("cleo runs show run_*"),
    never("E_MODEL_TIMEOUT", "a query tells it as E_AGENT_FAILED, a plan as a warning"),
    row("E_RUN_CANCELLED", r#"echo 'test -e given-up || { touch given-up; cleo runs cancel $(cleo runs list --format json --jq ".result.runs[0].id" | tr -d \"); sleep 60; }' > cancel.sh"#,
        "cleo run T2 --command 'sh cancel.sh' --repair 0")
        .fix("cleo runs resume run_*").exit(80).changes(&[".cleo/runs", "run run_", "task T2", "operation"]),
    row("E_INTERRUPTED", "", r#"cleo verify T2 --gate implemented --run 'sh -c "kill -INT $PPID; sleep 60"'"#),
    row("E_TERMINATED", "", r#"cleo verify T2 --gate implemented --run 'sh -c "kill -TERM $PPID; sleep 60"'"#),
];

/// Reads the codes of the table in docs/exit-codes.md with their exit codes.
fn codes() -> BTreeMap<String, i64> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/exit-codes.md");
    let text = fs::read_to_string(path).unwrap();
    let rows = text.lines().filter_map(|line| line.strip_prefix("| "));
    let codes = rows.filter_map(|row| {
        let (exit, rest) = row.split_once(" | `")?;
        Some((rest.split_once('`')?.0.to_string(), exit.parse().ok()?))
    });
    codes.collect()
}

#[test]
fn every_code_has_row() {
    let rows: BTreeSet<&str> = ROWS.iter().map(|row| row.code).collect();
    let codes = codes();
    let documented: BTreeSet<&str> = codes.keys().map(String::as_str).collect();
    assert_eq!(rows, documented);
}

#[test]
fn fixes_change_only_what_they_say() {
    let (codes, faults) = (codes(), Mutex::new(Vec::new()));
    let rows = Mutex::new(ROWS.iter());
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while let Some(row) = { rows.lock().unwrap().next() } {
                    if let Err(fault) = check(row, codes[row.code]) {
                        faults
                            .lock()
                            .unwrap()
                            .push(format!("{}: {fault}", row.code));
                    }
                }
            });
        }
    });
    let faults = faults.into_inner().unwrap();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

fn check(row: &Row, exit: i64) -> Result<(), String> {
    let workspace = TestWorkspace::with_plan();
    match row.setup.strip_prefix("sql:") {
        Some(sql) => {
            let store = Connection::open(workspace.path(".cleo/cleo.db")).unwrap();
            store.execute_batch(sql).unwrap();
        }
        None => {
            let ready = workspace.shell(&format!("{SHELL}{}", row.setup));
            if ready.exit != 0 {
                return Err(format!("the setup failed: {ready}"));
            }
        }
    }
    let (error, whole) = match row.way {
        Way::Never(reason) => {
            skip(&format!("{}: {reason}", row.code));
            return Ok(());
        }
        Way::Line(line) => match provoke(&workspace, line) {
            Some(told) => told,
            None => return Ok(()),
        },
        Way::Call(options, line, headers, body) => send(&workspace, options, line, headers, body),
    };
    let is_told =
        error["code"] == row.code || whole.contains(&format!("\"code\":\"{}\"", row.code));
    if !is_told || (error["code"] == row.code && error["exitCode"] != exit) {
        return Err(format!("another error: {whole}"));
    }
    let mut message = error["message"].as_str().unwrap_or_default();
    if row.code == "E_CRITERION_FAILED" {
        // The last lines of its command follow.
        message = message.lines().next().unwrap_or_default();
    }
    if message.is_empty() || message.contains('\n') || message.chars().count() > 600 {
        return Err(format!("the message is not a sentence: {message}"));
    }
    for other in error["alternatives"].as_array().into_iter().flatten() {
        check_alternative(other["command"].as_str().unwrap_or_default())?;
    }
    let fix = error["fix"].as_str().unwrap_or_default();
    let is_expected = match row.fix.strip_suffix('*') {
        Some(start) => fix.starts_with(start),
        None => fix == row.fix,
    };
    if !is_expected {
        return Err(format!("the fix is `{fix}`, not `{}`: {message}", row.fix));
    }
    match fix.is_empty() {
        true => Ok(()),
        false => check_fix(&workspace, row, fix),
    }
}

/// Runs a line that fails and returns its error, with the whole answer; none where this machine cannot.
fn provoke(workspace: &TestWorkspace, line: &str) -> Option<(Value, String)> {
    let reply = workspace.shell(&format!("export CLEO_FORMAT=json\n{SHELL}{line}"));
    let last = reply.stdout.lines().last().unwrap_or_default();
    if let Ok(answer) = serde_json::from_str::<Value>(last) {
        let stdout = format!("{last}\n");
        let answer_only = Reply { stdout, ..reply };
        let error = document(&answer_only)["error"].clone();
        return Some((error, answer.to_string()));
    }
    // An answer that cannot be written is told on standard error.
    let Some(rest) = reply.stderr.strip_prefix("error[") else {
        assert!(line.starts_with("unshare"), "{line}: {reply}");
        skip("a read-only disk: this machine allows no mount to make one");
        return None;
    };
    let (code, rest) = rest.split_once("]: ").unwrap();
    let (message, rest) = rest.split_once('\n').unwrap();
    let fix = rest.strip_prefix("  try: ").map(str::trim_end);
    let error = serde_json::json!({
        "code": code, "exitCode": reply.exit, "message": message, "fix": fix,
    });
    Some((error, reply.stderr.clone()))
}

/// Sends a request to a server until it is refused, as the last one is.
fn send(
    workspace: &TestWorkspace,
    options: &str,
    line: &str,
    headers: &str,
    content: &str,
) -> (Value, String) {
    let options: Vec<&str> = options.split_whitespace().collect();
    let server = Served::start(workspace, &options);
    let request = format!(
        "{line} HTTP/1.1\r\nhost: {}\r\nconnection: close\r\n{headers}content-length: {}\r\n\r\n{content}",
        server.address,
        content.len()
    );
    for _ in 0..100 {
        let answer = server.raw(request.as_bytes());
        if !answer.starts_with("HTTP/1.1 2") {
            let answer = body(&answer);
            return (answer["error"].clone(), answer.to_string());
        }
    }
    panic!("{line} is never refused");
}

/// Words that no fix holds: they force, overwrite, agree or remove.
const FORBIDDEN: [&str; 12] = [
    "--force",
    "--cascade",
    "--overwrite",
    "--replace",
    "--yes",
    "-y",
    "--help",
    "-D",
    "delete",
    "rm",
    "export",
    "read",
];

/// Checks what every proposed command must be: for a shell, and complete.
fn check_alternative(command: &str) -> Result<(), String> {
    let is_complete = !command.contains(['<', '>', '…']) && !command.contains("...");
    let words = shlex::split(command).unwrap_or_default();
    let is_known =
        ["cleo", "cat", "ulimit", "git"].contains(&words.first().map_or("", String::as_str));
    match is_complete && is_known && !words.contains(&"--yes".to_string()) {
        true => Ok(()),
        false => Err(format!("`{command}` is not an alternative")),
    }
}

fn check_fix(workspace: &TestWorkspace, row: &Row, fix: &str) -> Result<(), String> {
    let words = shlex::split(fix).unwrap_or_default();
    let forbidden = words.iter().find(|word| FORBIDDEN.contains(&word.as_str()));
    if words.is_empty() || forbidden.is_some() || fix.contains(['<', '>', '…', '$']) {
        return Err(format!("`{fix}` is not a fix: {forbidden:?}"));
    }
    let before = snapshot(workspace);
    let reply = workspace.shell(fix);
    let after = snapshot(workspace);
    if reply.exit != row.exit {
        return Err(format!("`{fix}` ends otherwise: {reply}"));
    }
    let keys: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let changed: Vec<&String> = keys
        .into_iter()
        .filter(|key| before.get(*key) != after.get(*key))
        .collect();
    let is_declared = |key: &&&String| row.changes.iter().any(|change| key.starts_with(change));
    let is_seen = |change: &&&str| changed.iter().any(|key| key.starts_with(**change));
    if !changed.iter().all(|key| is_declared(&key))
        || !row.changes.iter().all(|change| is_seen(&change))
    {
        return Err(format!(
            "`{fix}` changes {changed:?}, not {:?}",
            row.changes
        ));
    }
    Ok(())
}

/// Returns every file of the workspace and of the home, and what the database holds, by name.
fn snapshot(workspace: &TestWorkspace) -> BTreeMap<String, Vec<u8>> {
    let mut all = BTreeMap::new();
    let home = workspace.root().with_file_name("home");
    for (folder, mark) in [(workspace.root(), ""), (&home, "~/")] {
        for entry in walkdir::WalkDir::new(folder).min_depth(1) {
            let entry = entry.unwrap();
            let path = entry.path().strip_prefix(folder).unwrap();
            let name = format!("{mark}{}", path.display());
            if !name.starts_with(".cleo/cleo.db") {
                let bytes = fs::read(entry.path()).unwrap_or_else(|_| b"no file".to_vec());
                all.insert(name, bytes);
            }
        }
    }
    for (kind, line, list, id) in [
        ("task", "list --all --limit 500", "tasks", "id"),
        ("run", "runs list", "runs", "id"),
        ("agent", "agents list", "agents", "id"),
        ("session", "session list", "sessions", "id"),
        ("operation", "log --limit 500", "operations", "number"),
    ] {
        let answer = workspace.ask(line);
        let Some(items) = answer["result"][list].as_array() else {
            // Unreadable content is compared as bytes.
            let bytes = fs::read(workspace.path(".cleo/cleo.db")).unwrap_or_default();
            all.insert(kind.to_string(), bytes);
            continue;
        };
        for item in items {
            let mut item = item.get("task").unwrap_or(item).clone();
            // Tasks that wait for a fixed one are ready with it.
            item.as_object_mut().unwrap().remove("ready");
            all.insert(
                format!("{kind} {}", item[id]).replace('"', ""),
                item.to_string().into_bytes(),
            );
        }
    }
    let receipt = workspace.ask("why T2");
    all.insert(
        "receipt T2".to_string(),
        receipt["result"].to_string().into_bytes(),
    );
    all
}
