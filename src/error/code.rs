//! The table of codes: the only place that knows exit codes and HTTP statuses.

/// Declares the table of codes: variant, stable name, exit code, HTTP status, meaning, way out.
macro_rules! codes {
    ($($variant:ident = $name:literal, $exit:literal, $status:literal, $meaning:literal, $advice:literal;)+) => {
        /// A kind of failure. Names and exit codes are a contract; see `cleo help exit-codes`.
        #[expect(clippy::enum_variant_names, reason = "the names are those of the table")]
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Code { $(#[doc = $meaning] $variant,)+ }

        impl Code {
            pub(crate) const ALL: &'static [Code] = &[$(Code::$variant,)+];

            /// Returns the stable name, such as `E_TASK_NOT_FOUND`.
            pub(crate) fn name(self) -> &'static str {
                match self { $(Code::$variant => $name,)+ }
            }

            pub(crate) fn exit_code(self) -> u8 {
                match self { $(Code::$variant => $exit,)+ }
            }

            /// Returns the status of an HTTP response.
            pub(crate) fn status(self) -> u16 {
                match self { $(Code::$variant => $status,)+ }
            }

            /// Says in one sentence what the code means.
            pub(crate) fn meaning(self) -> &'static str {
                match self { $(Code::$variant => $meaning,)+ }
            }

            /// Says what to do about it.
            pub(crate) fn advice(self) -> &'static str {
                match self { $(Code::$variant => $advice,)+ }
            }
        }
    };
}

codes! {
    Internal = "E_INTERNAL", 1, 500, "An unexpected internal error occurred.",
        "Run the command again; if it fails again, report it with the full message.";
    Usage = "E_USAGE", 2, 400, "The command line is invalid.",
        "Follow the suggestion in the message, or read the help of the command.";
    InputInvalid = "E_INPUT_INVALID", 2, 400, "The input on standard input or in an argument is invalid.",
        "Correct the input as the message says and run the command again.";
    FileUnreadable = "E_FILE_UNREADABLE", 3, 500, "A file could not be read.",
        "Check that the path exists and is readable.";
    FileUnwritable = "E_FILE_UNWRITABLE", 3, 500, "A file or folder could not be written; nothing was changed.",
        "Check permissions and free space, and whether the disk is read-only.";
    AnswerLost = "E_ANSWER_LOST", 3, 500, "The command was carried out, but its result could not be written, or the `--jq` filter failed on it.",
        "Check where standard output goes, or correct the filter, then see the result with `cleo show` or `cleo list`.";
    FileChanged = "E_FILE_CHANGED", 3, 409, "A file that cleo would overwrite was changed since cleo wrote it.",
        "If `retryable` is true, run the command again. If not, compare with `--dry-run`; `--force` overwrites the file.";
    StoreCorrupt = "E_STORE_CORRUPT", 3, 500, "The database is damaged or is not a cleo database.",
        "Restore the database from a copy that `cleo backup` made, or save what can be read by `cleo doctor --fix`; cleo leaves the file as it is.";
    StoreForeign = "E_STORE_FOREIGN", 3, 500, "The database has objects that cleo did not create, or belongs to another account.",
        "Check what the message names, and ask the person who gave you this copy. You can import its tasks into your own workspace with `cleo import`. If you trust the owner, add the workspace to CLEO_SAFE_DIRECTORY.";
    RowDamaged = "E_ROW_DAMAGED", 3, 500, "A row of the database cannot be read; other rows are not affected.",
        "List all damaged rows and the commands that remove them with `cleo doctor`.";
    StoreReadOnly = "E_STORE_READ_ONLY", 3, 500, "The database cannot be written; nothing was changed.",
        "Check permissions and free space, and whether the disk is read-only.";
    DiskFull = "E_DISK_FULL", 3, 503, "The disk is full; nothing was changed.",
        "Free disk space, or raise the quota or file size limit, and run the command again.";
    PathOutside = "E_PATH_OUTSIDE_WORKSPACE", 3, 400, "A path leads outside of the workspace.",
        "Use a path below the workspace root, without `..` and without links that lead outside.";
    TreeUnknown = "E_TREE_UNKNOWN", 3, 500, "The current folder is not in the workspace's repository or one of its worktrees, so work cannot be verified.",
        "Change to the workspace or to a git worktree of its repository, and run the command again.";
    WorkspaceNotFound = "E_WORKSPACE_NOT_FOUND", 4, 500, "No .cleo folder was found in this folder or above.",
        "Run `cleo init` in the project's folder, or name it with `--root`.";
    TaskNotFound = "E_TASK_NOT_FOUND", 4, 404, "No task has this id.",
        "Find the id with `cleo find WORDS` or `cleo list`.";
    AgentNotFound = "E_AGENT_NOT_FOUND", 4, 404, "No agent has this id.",
        "List agents with `cleo agents list`.";
    RunNotFound = "E_RUN_NOT_FOUND", 4, 404, "No run has this id.",
        "List runs with `cleo runs list`.";
    ConversationNotFound = "E_CONVERSATION_NOT_FOUND", 4, 404, "No conversation has this id.",
        "List conversations with `cleo conversations list`.";
    SkillNotFound = "E_SKILL_NOT_FOUND", 4, 404, "No skill has this name.",
        "List skills with `cleo skills list`.";
    EntryNotFound = "E_ENTRY_NOT_FOUND", 4, 404, "No manifest entry has this id.",
        "List entries with `cleo manifest list`.";
    ReceiptNotFound = "E_RECEIPT_NOT_FOUND", 4, 404, "The task has not been spawned, so there is nothing to explain.",
        "Spawn it first with `cleo spawn TASK`.";
    OperationNotFound = "E_OPERATION_NOT_FOUND", 4, 404, "No operation has this number.",
        "List operations with `cleo log`.";
    CodeNotFound = "E_CODE_NOT_FOUND", 4, 404, "No error has this code.",
        "List all codes with `cleo help exit-codes`.";
    NothingReady = "E_NOTHING_READY", 4, 409, "No task is ready to be claimed; nothing was changed.",
        "If `retryable` is true, other agents are working: try again later. If not, no more tasks will become ready without a change.";
    PhaseNotFound = "E_PHASE_NOT_FOUND", 4, 404, "No phase has this name.",
        "List phases with `cleo phase list`.";
    ProgramMissing = "E_PROGRAM_MISSING", 5, 422, "A program that cleo should run was not found.",
        "Install the program or correct its name.";
    PlanInvalid = "E_PLAN_INVALID", 6, 400, "A plan is invalid and cannot run.",
        "Fix the errors in the message, then check again with `cleo plan check FILE`.";
    TaskInvalid = "E_TASK_INVALID", 6, 400, "A field of a task has an invalid value; nothing was changed.",
        "Correct the field as the message says.";
    FieldUnknown = "E_FIELD_UNKNOWN", 6, 400, "A task has no such field; nothing was changed.",
        "Use the field that the message suggests.";
    TextControl = "E_TEXT_CONTROL", 6, 400, "A text contains control characters; nothing was changed.",
        "Remove the control characters.";
    TextTooLong = "E_TEXT_TOO_LONG", 6, 400, "A text is too long for its field; nothing was changed.",
        "Shorten the text, or move details to a file and name it with `--file`.";
    BatchInvalid = "E_BATCH_INVALID", 6, 400, "A batch has invalid lines; nothing was added.",
        "Fix the lines that the message names, and run the command again.";
    ImportInvalid = "E_IMPORT_INVALID", 6, 400, "A file has content that cannot be imported; nothing was imported.",
        "Fix what the report names, or skip it with `--drop-faults`.";
    SkillInvalid = "E_SKILL_INVALID", 6, 400, "A SKILL.md violates the Agent Skills standard.",
        "Fix the errors in the message, then check again with `cleo skills validate PATH`.";
    SkillInactive = "E_SKILL_INACTIVE", 6, 409, "The skill is disabled.",
        "Choose another skill with `--template`, or set its status to active.";
    CatalogueInvalid = "E_CATALOGUE_INVALID", 6, 400, "A protocol file or a shared file of skills is invalid.",
        "Fix the file and line that the message names.";
    TokenInvalid = "E_TOKEN_INVALID", 6, 400, "A required token is missing or malformed.",
        "Provide the value in the form that the message names.";
    TokensUnresolved = "E_TOKENS_UNRESOLVED", 6, 422, "A prompt has unresolved tokens.",
        "Fix the names in the template, or omit `--strict`.";
    AgentInvalid = "E_AGENT_INVALID", 6, 400, "A field of an agent has an invalid value; nothing was changed.",
        "Correct the field as the message says.";
    EntryInvalid = "E_ENTRY_INVALID", 6, 400, "A manifest entry is invalid; nothing was written.",
        "Fix all errors that the message names, and append the entry again.";
    ManifestInvalid = "E_MANIFEST_INVALID", 6, 400, "The manifest has invalid lines.",
        "Fix or remove the lines that `cleo manifest validate` names.";
    LineTorn = "E_LINE_TORN", 6, 400, "A manifest line is incomplete, or two entries are on one line.",
        "Let the agent append its entry again, then remove the incomplete line.";
    LineForeign = "E_LINE_FOREIGN", 6, 400, "A manifest line is not a JSON object in UTF-8.",
        "Remove the line; other entries are not affected.";
    LineTooLong = "E_LINE_TOO_LONG", 6, 400, "A manifest line is too long.",
        "Move details to the output file, and append a shorter entry.";
    LineDuplicate = "E_LINE_DUPLICATE", 6, 400, "A manifest line has the id of an earlier line, which takes precedence.",
        "Remove the line, or change its id.";
    NotVerified = "E_NOT_VERIFIED", 6, 422, "The work of the task does not verify.",
        "See what is missing with `cleo verify output TASK`; `--force` completes the task anyway (recorded in the log).";
    StatusRefused = "E_STATUS_REFUSED", 6, 409, "The task cannot change from its status to the requested one.",
        "Use the command in `fix`.";
    TaskChanged = "E_TASK_CHANGED", 6, 409, "The task was changed since the caller read it; nothing was changed.",
        "Read the task again, and decide what of both changes stays.";
    OtherWorkspace = "E_OTHER_WORKSPACE", 6, 409, "The request is for another workspace than that of the server; nothing was changed.",
        "Load the page again: another server has its address now.";
    NotReady = "E_NOT_READY", 6, 409, "The task depends on unfinished tasks; nothing was changed.",
        "Claim another task with `cleo claim --next`; `--force` claims this one anyway (recorded in the log).";
    UndoConflict = "E_UNDO_CONFLICT", 6, 409, "A later operation changed one of the tasks; nothing was changed.",
        "Check what the later operation changed; if it is not needed, undo it first.";
    NothingToUndo = "E_NOTHING_TO_UNDO", 6, 409, "The operation is already undone, or cannot be undone.",
        "Choose another operation from `cleo log`; to redo, undo the undo.";
    CheckoutChanged = "E_CHECKOUT_CHANGED", 6, 400, "The checkout is not on the branch where the run began, so nothing was merged.",
        "Check out the branch that the message names and resume the run, or merge the branch of the task yourself.";
    DoctorFound = "E_DOCTOR_FOUND", 6, 422, "`cleo doctor` found a problem.",
        "Run the command next to each finding of `cleo doctor`.";
    LockTimeout = "E_LOCK_TIMEOUT", 7, 503, "Another process held the lock for too long; nothing was changed.",
        "Run the command again.";
    StoreUnavailable = "E_STORE_UNAVAILABLE", 7, 503, "The database server could not be reached, or ended the transaction; nothing was changed.",
        "Check that the server runs and is reachable, and run the command again.";
    ConfigInvalid = "E_CONFIG_INVALID", 8, 500, "A setting or environment variable has an invalid value.",
        "Correct the setting or variable that the message names.";
    Clock = "E_CLOCK", 8, 409, "The clock is earlier than the time of the claim; nothing was changed.",
        "Correct the clock, or wait: leases cannot be checked with a clock that was set back. `cleo release TASK --force` ends a claim without a check.";
    StoreSchema = "E_STORE_SCHEMA", 8, 500, "The database was written by another version of cleo.",
        "Export the tasks with that version, and import them into a new workspace.";
    ParentNotFound = "E_PARENT_NOT_FOUND", 10, 404, "The parent task does not exist; nothing was changed.",
        "Find the id with `cleo find WORDS`.";
    DependencyNotFound = "E_DEPENDENCY_NOT_FOUND", 4, 404, "A dependency does not exist; nothing was changed.",
        "Find the id with `cleo find WORDS`.";
    TooDeep = "E_TOO_DEEP", 11, 400, "Tasks are nested too deeply; nothing was changed.",
        "Choose a parent at a higher level.";
    Cycle = "E_CYCLE", 14, 409, "Tasks would depend on each other in a cycle; nothing was changed.",
        "Remove one of the dependencies that the message names.";
    HasChildren = "E_HAS_CHILDREN", 16, 409, "The task has children or dependents; nothing was changed.",
        "Change them first, or use the option in `fix`.";
    SessionExists = "E_SESSION_EXISTS", 30, 409, "A session is already open; nothing was changed.",
        "Continue in the open session, or end it first.";
    SessionNotFound = "E_SESSION_NOT_FOUND", 31, 404, "No session has this id.",
        "List sessions with `cleo session list`.";
    ScopeConflict = "E_SCOPE_CONFLICT", 32, 409, "Another open session covers the same tasks; nothing was changed.",
        "Choose another scope, or share the scope with `--force`.";
    ScopeInvalid = "E_SCOPE_INVALID", 33, 409, "The task cannot be the scope of a session; nothing was changed.",
        "Choose an open task.";
    NotInScope = "E_TASK_NOT_IN_SCOPE", 34, 409, "The task is not in the scope of the session; nothing was changed.",
        "Choose a task in the scope, or start a session with another scope.";
    Claimed = "E_CLAIMED", 35, 409, "The task is claimed by another holder; nothing was changed.",
        "Claim another task with `cleo claim --next`, or wait until the lease expires.";
    ClaimLost = "E_CLAIM_LOST", 35, 409, "The claim is no longer valid; nothing was changed.",
        "Stop working on the task, or claim it again if it is free.";
    SessionRequired = "E_SESSION_REQUIRED", 36, 409, "No session is open; nothing was changed.",
        "Start a session with `cleo session start`, or name one with `--session`.";
    SessionBlocked = "E_SESSION_CLOSE_BLOCKED", 37, 409, "The session belongs to another agent, or its owner still holds tasks in it; nothing was changed.",
        "Complete or release the tasks first; `--force` ends the session anyway.";
    GateFailed = "E_GATE_FAILED", 6, 422, "The command for a gate failed; the gate stays open.",
        "Fix the reported problems, and run the command again.";
    GateOpen = "E_GATE_OPEN", 6, 422, "A required gate is open; the task was not completed.",
        "Pass the gates that the message names, or change the required gates with `cleo update TASK --require-gate GATE`.";
    EvidenceStale = "E_EVIDENCE_STALE", 6, 422, "Files of the task changed after a gate passed or a criterion was proven or accepted, or that was in another worktree or by another user.",
        "Run the stale checks again with `cleo verify TASK --refresh`, and accept criteria without a command with `cleo verify TASK --accept NUMBER`.";
    CriterionFailed = "E_CRITERION_FAILED", 6, 422, "The command of an acceptance criterion failed; the failure is recorded.",
        "Fix the reported problems, and run the command again.";
    CriterionOpen = "E_CRITERION_OPEN", 6, 422, "An acceptance criterion is not verified; the task was not completed.",
        "Run `cleo verify TASK --run-all`.";
    NotCompliant = "E_NOT_COMPLIANT", 6, 422, "Completed work violates a rule.",
        "See the rules and tasks in the result; `cleo verify output TASK` checks one task again.";
    GateOrder = "E_GATE_ORDER", 6, 422, "An earlier gate is still open; nothing was changed.",
        "Pass the earlier gate first; `--force` passes this one anyway (recorded in the log).";
    GateUnknown = "E_GATE_UNKNOWN", 42, 400, "No gate has this name.",
        "Use one of the names in the message.";
    GateRounds = "E_GATE_ROUNDS", 44, 422, "A gate failed after the maximum number of rounds; the failure is recorded and the gate is open.",
        "Let a person look at the task before it is tried again.";
    AgentUnknown = "E_AGENT_UNKNOWN", 43, 400, "No agent has this name.",
        "Use one of the names in the message.";
    ContextCritical = "E_CONTEXT_CRITICAL", 52, 422, "An orchestrator has used 80 percent of its token limit.",
        "Write a hand-over with `cleo orchestrator brief`, and continue in a new context.";
    ProtocolMissing = "E_PROTOCOL_MISSING", 60, 422, "The subagent protocol block, or one of its rules, is missing from a prompt.",
        "Add the block with `--force-inject`, or append the output of `cleo research inject TASK`.";
    ReturnMessage = "E_RETURN_MESSAGE", 61, 422, "The final message of an agent is not one of the allowed sentences.",
        "Ask the agent for exactly one of the allowed sentences.";
    EntryMissing = "E_ENTRY_MISSING", 62, 422, "The manifest entry is missing.",
        "Let the agent append the entry with `cleo manifest append`.";
    OutputMissing = "E_OUTPUT_MISSING", 63, 422, "The output file is missing, empty, outdated or incomplete.",
        "Let the agent write the file, then check again with `cleo verify output TASK`.";
    Exists = "E_EXISTS", 101, 409, "The id or the file already exists; nothing was changed.",
        "Use another id, or use the existing item.";
    AgentFailed = "E_AGENT_FAILED", 80, 502, "An agent did not answer, and no other agent could.",
        "See the failure with `cleo runs show RUN`, and the settings of the agent with `cleo agents show AGENT`.";
    Unanswered = "E_UNANSWERED", 80, 503, "No model is configured, so the message was routed and not answered.",
        "Set OPENAI_API_KEY, or name a model server with `cleo config set llm.provider KIND`, then send the message again.";
    Untrusted = "E_UNTRUSTED", 82, 403, "A command, worker or server is not trusted on this machine, or changed since; nothing was started.",
        "Review and trust it with `cleo trust`; in scripts, use `cleo trust --yes`.";
    AgentDown = "E_AGENT_DOWN", 80, 422, "A worker does not respond, or is not trusted.",
        "See the reason next to each agent, and check again with `cleo agents check`.";
    RunNested = "E_RUN_NESTED", 11, 409, "Runs are nested too deeply; nothing was started.",
        "Add the tasks to the outermost run instead.";
    RunCancelled = "E_RUN_CANCELLED", 130, 409, "A run was cancelled before all its tasks were done.",
        "Resume it with `cleo runs resume RUN`, or start another run.";
    RunTimeout = "E_RUN_TIMEOUT", 124, 504, "A run, or its only task, reached its time limit.",
        "Resume it with `cleo runs resume RUN`, or raise `--time-limit`, `--task-time-limit` or `--idle-limit`.";
    ModelUnreachable = "E_MODEL_UNREACHABLE", 80, 502, "The server of the configured model is unreachable or reports an error.",
        "Try again later; `cleo config list` shows the server.";
    ModelRefused = "E_MODEL_REFUSED", 80, 502, "The server of the configured model refused the request.",
        "Fix the key or setting that the message names.";
    ModelAnswer = "E_MODEL_ANSWER", 80, 502, "The server of the configured model sent an invalid response.",
        "Check `llm.provider`, `llm.baseUrl` and `llm.model` with `cleo config list`.";
    ModelTimeout = "E_MODEL_TIMEOUT", 124, 504, "The configured model did not answer in time.",
        "Try again, or allow more time with `cleo config set llm.timeout 5m`.";
    StepsFailed = "E_STEPS_FAILED", 81, 422, "Some of several items failed; the others are done.",
        "See the errors next to the results.";
    Unauthorized = "E_UNAUTHORIZED", 9, 401, "The request has no valid token.",
        "Create a token with `cleo serve token create`, and send it as `Authorization: Bearer TOKEN`.";
    Forbidden = "E_FORBIDDEN", 9, 403, "The token, host or origin of the request does not allow this; nothing was changed.",
        "Use a token with the required scope, or the address that the server printed.";
    TokenNotFound = "E_TOKEN_NOT_FOUND", 4, 404, "No token of the server has this id.",
        "List tokens with `cleo serve token list`.";
    PathNotFound = "E_PATH_NOT_FOUND", 4, 404, "The server has no such path.",
        "See the endpoints in /openapi.json.";
    MethodRefused = "E_METHOD_REFUSED", 2, 405, "The path does not support this method.",
        "Use a method in the `Allow` header.";
    BodyTooLarge = "E_BODY_TOO_LARGE", 2, 413, "The request body is too large; nothing was changed.",
        "Send a smaller body, or start the server with a larger `--max-body`.";
    MediaType = "E_MEDIA_TYPE", 2, 415, "The content type of the request body is not supported; nothing was changed.",
        "Send JSON with `Content-Type: application/json`.";
    RateLimited = "E_RATE_LIMITED", 7, 429, "Too many requests; this one was not carried out.",
        "Wait for the time in the `Retry-After` header, and try again.";
    ServerBusy = "E_SERVER_BUSY", 7, 503, "The server is busy or shutting down; this request was not carried out.",
        "Wait for the time in the `Retry-After` header, and try again.";
    Interrupted = "E_INTERRUPTED", 130, 503, "cleo was interrupted (SIGINT) while it ran a command; the command was stopped and its result discarded.",
        "Run the command again.";
    Terminated = "E_TERMINATED", 143, 503, "cleo was terminated (SIGTERM, SIGHUP) while it ran a command; the command was stopped and its result discarded.",
        "Run the command again.";
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
    fn names_are_unique_and_exit_codes_keep_to_reserved_ranges() {
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
