//! The table of codes: the only place that knows exit codes.

/// Declares the table of codes: variant, stable name, exit code, meaning, way out.
macro_rules! codes {
    ($($variant:ident = $name:literal, $exit:literal, $meaning:literal, $advice:literal;)+) => {
        /// A kind of failure. Names and exit codes are a contract; see `cleo help exit-codes`.
        #[expect(clippy::enum_variant_names, reason = "the names are those of the table")]
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Code { $(#[doc = $meaning] $variant,)+ }

        impl Code {
            /// All codes in the order of the table.
            pub(crate) const ALL: &'static [Code] = &[$(Code::$variant,)+];

            /// Returns the stable name, such as `E_TASK_NOT_FOUND`.
            pub(crate) fn name(self) -> &'static str {
                match self { $(Code::$variant => $name,)+ }
            }

            pub(crate) fn exit_code(self) -> u8 {
                match self { $(Code::$variant => $exit,)+ }
            }

            /// Returns the meaning of the code in one sentence.
            pub(crate) fn meaning(self) -> &'static str {
                match self { $(Code::$variant => $meaning,)+ }
            }

            /// Returns the advice for it.
            pub(crate) fn advice(self) -> &'static str {
                match self { $(Code::$variant => $advice,)+ }
            }
        }
    };
}

codes! {
    Internal = "E_INTERNAL", 1, "An unexpected internal error occurred.",
        "Run the command again; if it fails again, report it with the full message.";
    Usage = "E_USAGE", 2, "Invalid command line.",
        "Read what the message suggests, or the help of the command.";
    InputInvalid = "E_INPUT_INVALID", 2, "The input or an argument is invalid.",
        "Correct the input as the message says and run the command again.";
    FileUnreadable = "E_FILE_UNREADABLE", 3, "A file could not be read.",
        "Check that the path exists and that you may read it.";
    FileUnwritable = "E_FILE_UNWRITABLE", 3, "A file or folder could not be written; nothing was changed.",
        "Check permissions, free space and whether the disk is mounted read-only.";
    AnswerLost = "E_ANSWER_LOST", 3, "The command succeeded, but its answer could not be written, or the `--jq` filter failed.",
        "Make room for standard output or correct the filter, then see the result with `cleo show` or `cleo list`.";
    FileChanged = "E_FILE_CHANGED", 3, "A file that cleo would overwrite was changed.",
        "If `retryable` is true, run the command again. If not, see the difference with `--dry-run`; `--force` overwrites it.";
    StoreCorrupt = "E_STORE_CORRUPT", 3, "The database is corrupt or not a cleo database.",
        "Restore the database from a backup; cleo does not change it.";
    StoreForeign = "E_STORE_FOREIGN", 3, "The database has tables that cleo did not create, or belongs to another account.",
        "Ask where this copy comes from, or import its tasks into your own workspace with `cleo import`. If you trust the account that owns it, name the workspace in CLEO_SAFE_DIRECTORY.";
    RowDamaged = "E_ROW_DAMAGED", 3, "A row of the database cannot be read; no other row is affected.",
        "See all such rows with `cleo doctor`, which names the command that removes each.";
    StoreReadOnly = "E_STORE_READ_ONLY", 3, "The database cannot be written; nothing was changed.",
        "Check permissions, free space and whether the disk is mounted read-only.";
    DiskFull = "E_DISK_FULL", 3, "There is no room to write; nothing was changed.",
        "Make room on the disk, or raise the quota or the limit on the size of files, and run the command again.";
    PathOutside = "E_PATH_OUTSIDE_WORKSPACE", 3, "A path leads out of the workspace.",
        "Use a path below the workspace root, without `..` and without links that lead out.";
    TreeUnknown = "E_TREE_UNKNOWN", 3, "The working directory belongs to no worktree of the repository of the workspace.",
        "Go to the workspace or to a git worktree of its repository, as the message says, and run the command again.";
    WorkspaceNotFound = "E_WORKSPACE_NOT_FOUND", 4, "There is no .cleo folder here or above.",
        "Run `cleo init` in the project's folder, or name it with `--root`.";
    TaskNotFound = "E_TASK_NOT_FOUND", 4, "No task has this id.",
        "Look it up with `cleo find WORDS` or `cleo list`.";
    AgentNotFound = "E_AGENT_NOT_FOUND", 4, "No agent has this id.",
        "Look it up with `cleo agents list`.";
    RunNotFound = "E_RUN_NOT_FOUND", 4, "No run has this id.",
        "Look it up with `cleo runs list`.";
    ConversationNotFound = "E_CONVERSATION_NOT_FOUND", 4, "No conversation has this id.",
        "Look it up with `cleo conversations list`.";
    SkillNotFound = "E_SKILL_NOT_FOUND", 4, "No skill has this name.",
        "Look it up with `cleo skills list`.";
    EntryNotFound = "E_ENTRY_NOT_FOUND", 4, "No manifest entry has this id.",
        "Look it up with `cleo manifest list`.";
    ReceiptNotFound = "E_RECEIPT_NOT_FOUND", 4, "The task has not been spawned, so there is nothing to explain.",
        "Spawn it first with `cleo spawn TASK`.";
    OperationNotFound = "E_OPERATION_NOT_FOUND", 4, "No operation has this number.",
        "Look it up with `cleo log`.";
    CodeNotFound = "E_CODE_NOT_FOUND", 4, "No error has this code.",
        "List them with `cleo help exit-codes`.";
    NothingReady = "E_NOTHING_READY", 4, "No task is ready to be claimed; nothing was changed.",
        "If `retryable` is true, retry later; otherwise no further tasks will become ready.";
    PhaseNotFound = "E_PHASE_NOT_FOUND", 4, "No phase has this name.",
        "Look it up with `cleo phase list`.";
    ProgramMissing = "E_PROGRAM_MISSING", 5, "A program that cleo should run does not exist.",
        "Install it or correct its name.";
    PlanInvalid = "E_PLAN_INVALID", 6, "A plan is invalid.",
        "Correct the places that the message names; `cleo plan check FILE` checks again.";
    TaskInvalid = "E_TASK_INVALID", 6, "A field of a task has an invalid value; nothing was changed.",
        "Correct the field as the message says.";
    FieldUnknown = "E_FIELD_UNKNOWN", 6, "A task has no such field; nothing was changed.",
        "Use the field that the message suggests.";
    TextControl = "E_TEXT_CONTROL", 6, "A text has control characters; nothing was changed.",
        "Remove them.";
    TextTooLong = "E_TEXT_TOO_LONG", 6, "A text is longer than its field may be; nothing was changed.",
        "Shorten it, or move the detail into a file and name it with `--file`.";
    BatchInvalid = "E_BATCH_INVALID", 6, "A batch has invalid lines; nothing was changed.",
        "Correct the lines that the message names and run the command again.";
    ImportInvalid = "E_IMPORT_INVALID", 6, "A file has parts that cannot be imported; nothing was imported.",
        "Correct what the report names, or import everything else with `--drop-faults`.";
    SkillInvalid = "E_SKILL_INVALID", 6, "A SKILL.md breaks the Agent Skills standard.",
        "Correct the places that the message names; `cleo skills validate PATH` checks again.";
    SkillInactive = "E_SKILL_INACTIVE", 6, "The skill is disabled.",
        "Choose another with `--template`, or set its status to active.";
    CatalogueInvalid = "E_CATALOGUE_INVALID", 6, "A protocol file or a shared file of the skills cannot be used.",
        "Correct the file and line that the message names.";
    TokenInvalid = "E_TOKEN_INVALID", 6, "A required token is missing or malformed.",
        "Give the value in the form that the message names.";
    TokensUnresolved = "E_TOKENS_UNRESOLVED", 6, "A prompt has unresolved tokens.",
        "Correct the names in the template, or leave out `--strict`.";
    AgentInvalid = "E_AGENT_INVALID", 6, "A field of an agent has an invalid value; nothing was changed.",
        "Correct the field as the message says.";
    EntryInvalid = "E_ENTRY_INVALID", 6, "A manifest entry is invalid; nothing was written.",
        "Correct every fault that the message names and append again.";
    ManifestInvalid = "E_MANIFEST_INVALID", 6, "The manifest has lines that are not valid entries.",
        "Correct or remove the lines that `cleo manifest validate` names.";
    LineTorn = "E_LINE_TORN", 6, "A line of the manifest is incomplete, or two entries share a line.",
        "Have the agent append its entry again, then remove the torn part.";
    LineForeign = "E_LINE_FOREIGN", 6, "A manifest line is not a UTF-8 JSON object.",
        "Remove the line; other entries are not affected.";
    LineTooLong = "E_LINE_TOO_LONG", 6, "A line of the manifest is longer than any entry may be.",
        "Move the detail into the output file and append a shorter entry.";
    LineDuplicate = "E_LINE_DUPLICATE", 6, "A manifest line has the id of an earlier one, which is used instead.",
        "Remove the line, or give its entry another id.";
    NotVerified = "E_NOT_VERIFIED", 6, "The task was spawned, but its output does not verify.",
        "See `cleo verify output TASK`; `--force` completes it anyway and is recorded.";
    StatusRefused = "E_STATUS_REFUSED", 6, "The task cannot go from its status to that one.",
        "Use the command that `fix` names.";
    NotReady = "E_NOT_READY", 6, "The task waits for others; nothing was changed.",
        "Claim another with `cleo claim --next`; `--force` claims it anyway and is recorded.";
    UndoConflict = "E_UNDO_CONFLICT", 6, "A later operation changed one of the tasks; nothing was changed.",
        "See what the later operation changed; if it is not needed, undo that first.";
    NothingToUndo = "E_NOTHING_TO_UNDO", 6, "The operation is already undone, or cannot be undone.",
        "Choose another with `cleo log`; `cleo undo` of the undo brings back what it took.";
    CheckoutChanged = "E_CHECKOUT_CHANGED", 6, "The checkout is not where the run began, so nothing is merged into it.",
        "Check out the branch that the message names and resume the run, or merge the branch of the task there.";
    DoctorFound = "E_DOCTOR_FOUND", 6, "`cleo doctor` found a problem.",
        "Run the command beside each finding of `cleo doctor`.";
    LockTimeout = "E_LOCK_TIMEOUT", 7, "Another process held the lock for too long; nothing was changed.",
        "Run the command again.";
    ConfigInvalid = "E_CONFIG_INVALID", 8, "A setting or environment variable has an invalid value.",
        "Correct the variable that the message names.";
    Clock = "E_CLOCK", 8, "The clock is behind the time of the claim; nothing was changed.",
        "Correct the clock or wait; leases do not expire by a clock that was set back.";
    StoreSchema = "E_STORE_SCHEMA", 8, "The database was written by another version of cleo.",
        "Export it with the program that wrote it, and import it into a new workspace.";
    ParentNotFound = "E_PARENT_NOT_FOUND", 10, "The parent task does not exist; nothing was changed.",
        "Look it up with `cleo find WORDS`.";
    DependencyNotFound = "E_DEPENDENCY_NOT_FOUND", 4, "A dependency does not exist; nothing was changed.",
        "Look it up with `cleo find WORDS`.";
    TooDeep = "E_TOO_DEEP", 11, "Tasks are nested deeper than cleo allows; nothing was changed.",
        "Choose a parent nearer to the top.";
    Cycle = "E_CYCLE", 14, "Tasks would depend on each other in a cycle; nothing was changed.",
        "Leave out one of the edges that the message names.";
    HasChildren = "E_HAS_CHILDREN", 16, "The task has children or dependents; nothing was changed.",
        "Deal with them first, or use the flag in `fix`.";
    SessionExists = "E_SESSION_EXISTS", 30, "A session is already open; nothing was changed.",
        "Continue in it, or end it first.";
    SessionNotFound = "E_SESSION_NOT_FOUND", 31, "No session has this id.",
        "Look it up with `cleo session list`.";
    ScopeConflict = "E_SCOPE_CONFLICT", 32, "Another open session has the same scope; nothing was changed.",
        "Choose another scope, or share it with `--force`.";
    ScopeInvalid = "E_SCOPE_INVALID", 33, "The task cannot be the scope of a session; nothing was changed.",
        "Name a task that is open.";
    NotInScope = "E_TASK_NOT_IN_SCOPE", 34, "The task is not in the scope of the session; nothing was changed.",
        "Focus on a task in its scope, or start a session with another scope.";
    Claimed = "E_CLAIMED", 35, "Another agent holds the task; nothing was changed.",
        "Take other work with `cleo claim --next`, or wait until the lease is over.";
    ClaimLost = "E_CLAIM_LOST", 35, "The claim is no longer valid; no changes were made.",
        "Stop the work on the task, or claim it again if it is free.";
    SessionRequired = "E_SESSION_REQUIRED", 36, "No session is open; nothing was changed.",
        "Start one with `cleo session start`, or name one with `--session`.";
    SessionBlocked = "E_SESSION_CLOSE_BLOCKED", 37, "The session has another owner, or its owner still holds claims in it; no changes were made.",
        "Complete or release them first; `--force` ends it anyway.";
    GateFailed = "E_GATE_FAILED", 6, "The command of a gate failed; the gate stays open.",
        "Fix what the command found and run it again.";
    GateOpen = "E_GATE_OPEN", 6, "The task needs a gate that is open; it was not completed.",
        "Pass the gates that the message names, or name the gates it needs with `cleo update TASK --require-gate GATE`.";
    EvidenceStale = "E_EVIDENCE_STALE", 6, "Files of the task changed after a gate passed or a criterion was verified or accepted.",
        "Renew the evidence: `cleo verify TASK --refresh` runs only what is stale; accept criteria without a command again with `cleo verify TASK --accept NUMBER`.";
    CriterionFailed = "E_CRITERION_FAILED", 6, "The command of an acceptance criterion failed; this is recorded.",
        "Fix what the command found and run it again.";
    CriterionOpen = "E_CRITERION_OPEN", 6, "An acceptance criterion has not been verified; the task was not completed.",
        "Run `cleo verify TASK --run-all`.";
    NotCompliant = "E_NOT_COMPLIANT", 6, "Work that is marked done breaks a rule.",
        "See the rules and tasks in the result; `cleo verify output TASK` checks one again.";
    GateOrder = "E_GATE_ORDER", 6, "A gate comes after another that is still open; nothing was changed.",
        "Pass the earlier gate first; `--force` passes it anyway and is recorded.";
    GateUnknown = "E_GATE_UNKNOWN", 42, "No gate has this name.",
        "Use one of the names in the message.";
    GateRounds = "E_GATE_ROUNDS", 44, "A gate failed after all rounds of the task were used; the failure is recorded and the gate is open.",
        "Ask a person to look at it before another attempt.";
    AgentUnknown = "E_AGENT_UNKNOWN", 43, "No agent has this name.",
        "Use one of the names in the message.";
    ContextCritical = "E_CONTEXT_CRITICAL", 52, "An orchestrator has used 80 percent of its tokens.",
        "Write the hand-over with `cleo orchestrator brief` and continue with a fresh context.";
    ProtocolMissing = "E_PROTOCOL_MISSING", 60, "A prompt lacks the subagent protocol block or one of its rules.",
        "Spawn with `--force-inject`, which adds the block, or append what `cleo research inject TASK` prints.";
    ReturnMessage = "E_RETURN_MESSAGE", 61, "An agent's last message is not one of the allowed sentences.",
        "Ask the agent again for exactly one of the sentences that the message lists.";
    EntryMissing = "E_ENTRY_MISSING", 62, "The manifest lacks a required entry.",
        "Have the agent append it with `cleo manifest append`.";
    OutputMissing = "E_OUTPUT_MISSING", 63, "The output file is missing, empty, old or incomplete.",
        "Have the agent write it; `cleo verify output TASK` checks again.";
    Exists = "E_EXISTS", 101, "The id already exists; nothing was changed.",
        "Use another id, or continue with the existing one.";
    AgentFailed = "E_AGENT_FAILED", 80, "An agent could not answer, and no fallback answered.",
        "See what failed with `cleo runs show RUN`; `cleo agents show AGENT` shows its address.";
    Untrusted = "E_UNTRUSTED", 82, "A command, address or run is not trusted on this machine, or changed since; nothing was started.",
        "Review it with `cleo trust`, which asks; `cleo trust --yes` trusts it in a script.";
    AgentDown = "E_AGENT_DOWN", 80, "A worker cannot be reached or may not be called.",
        "See the reason of each agent, and check again with `cleo agents check`.";
    RunNested = "E_RUN_NESTED", 11, "An agent of nested runs asked for another run; nothing was started.",
        "Add the tasks and let the outermost run execute them.";
    RunCancelled = "E_RUN_CANCELLED", 130, "A run was cancelled before all its tasks were done.",
        "Resume it with `cleo runs resume RUN`, or start another.";
    RunTimeout = "E_RUN_TIMEOUT", 124, "A run or its only task exceeded the time limit.",
        "Resume it with `cleo runs resume RUN`, or allow more with `--time-limit`, `--task-time-limit` or `--idle-limit`.";
    ModelUnreachable = "E_MODEL_UNREACHABLE", 80, "The model server cannot be reached, or fails.",
        "Try again later; `cleo config list` shows the server.";
    ModelRefused = "E_MODEL_REFUSED", 80, "The model server refused the request.",
        "Correct the key or the setting that the message names.";
    ModelAnswer = "E_MODEL_ANSWER", 80, "The model server returned an invalid answer.",
        "Check `llm.provider`, `llm.baseUrl` and `llm.model` with `cleo config list`.";
    ModelTimeout = "E_MODEL_TIMEOUT", 124, "The model did not answer in time.",
        "Try again, or allow more time with `cleo config set llm.timeout 5m`.";
    StepsFailed = "E_STEPS_FAILED", 81, "Some of the steps failed; the others are done.",
        "See the errors beside the results.";
    Unauthorized = "E_UNAUTHORIZED", 9, "Authentication required: the token is missing, invalid, expired or revoked.",
        "Make one with `cleo serve token create` and send it as `Authorization: Bearer TOKEN`.";
    Forbidden = "E_FORBIDDEN", 9, "The server refuses the request because of its token, host or origin; nothing was changed.",
        "Use a token with the scope that the message names, or the address that the server printed.";
    TokenNotFound = "E_TOKEN_NOT_FOUND", 4, "No token of the server has this id.",
        "Look it up with `cleo serve token list`.";
    PathNotFound = "E_PATH_NOT_FOUND", 4, "The server has no such path.",
        "Look it up in /openapi.json.";
    MethodRefused = "E_METHOD_REFUSED", 2, "The method is not allowed for this path.",
        "Use a method that the header `Allow` names.";
    BodyTooLarge = "E_BODY_TOO_LARGE", 2, "The body of the request is larger than allowed; nothing was changed.",
        "Send less, or start the server with a larger `--max-body`.";
    MediaType = "E_MEDIA_TYPE", 2, "The body of the request has the wrong media type; nothing was changed.",
        "Send JSON with `Content-Type: application/json`.";
    RateLimited = "E_RATE_LIMITED", 7, "There were too many requests; this one was not processed.",
        "Wait as long as the header `Retry-After` says, and send it again.";
    ServerBusy = "E_SERVER_BUSY", 7, "The server is overloaded or shutting down; the request was not processed.",
        "Wait as long as the header `Retry-After` says, and send it again.";
    Interrupted = "E_INTERRUPTED", 130, "cleo was interrupted (SIGINT) while it ran a command; the command was stopped without a result.",
        "Run it again.";
    Terminated = "E_TERMINATED", 143, "cleo was terminated (SIGTERM, SIGHUP) while it ran a command; the command was stopped without a result.",
        "Run it again.";
}

impl Code {
    /// Finds a code by its stable name, in any letter case and with or without `E_`.
    pub(crate) fn find(name: &str) -> Option<Code> {
        let wanted = name.trim().to_ascii_uppercase();
        Code::ALL.iter().copied().find(|code| {
            code.name() == wanted || code.name().strip_prefix("E_") == Some(wanted.as_str())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_exit_codes_keep_to_the_reserved_ranges() {
        for (index, code) in Code::ALL.iter().enumerate() {
            assert!(
                Code::ALL[index + 1..]
                    .iter()
                    .all(|other| other.name() != code.name())
            );
            let exit = code.exit_code();
            assert!(
                !(64..=79).contains(&exit),
                "{} is in the range of sysexits",
                code.name()
            );
        }
    }

    #[test]
    fn codes_are_found_in_any_spelling() {
        assert_eq!(Code::find("e_cycle"), Some(Code::Cycle));
        assert_eq!(Code::find("CYCLE"), Some(Code::Cycle));
        assert_eq!(Code::find("E_NOPE"), None);
    }
}
