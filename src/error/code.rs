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
    Internal = "E_INTERNAL", 1, "Something failed that cleo did not foresee.",
        "Run the command again; if it fails again, report it with the full message.";
    Usage = "E_USAGE", 2, "The command line is not one that cleo understands.",
        "Read what the message suggests, or the help of the command.";
    InputInvalid = "E_INPUT_INVALID", 2, "What was given on standard input or as an argument cannot be used.",
        "Correct the input as the message says and run the command again.";
    FileUnreadable = "E_FILE_UNREADABLE", 3, "A file could not be read.",
        "Check that the path exists and that you may read it.";
    FileUnwritable = "E_FILE_UNWRITABLE", 3, "A file or folder could not be written; nothing was changed.",
        "Check permissions, free space and whether the disk is mounted read-only.";
    AnswerLost = "E_ANSWER_LOST", 3, "The command was carried out, but its answer could not be written, or the filter of `--jq` failed on it.",
        "Make room where standard output goes, or correct the filter, and look at the result with `cleo show` or `cleo list`.";
    FileChanged = "E_FILE_CHANGED", 3, "A file that cleo would write holds somebody's changes.",
        "If `retryable` is true, run the command again. If not, look at the difference with `--dry-run`; `--force` writes over it.";
    StoreCorrupt = "E_STORE_CORRUPT", 3, "The database is not one that can be read.",
        "Restore the database from a backup; cleo leaves it as it is.";
    StoreForeign = "E_STORE_FOREIGN", 3, "The database holds what cleo did not put there, or is not this account's own.",
        "Look at what the message names, and ask whoever gave you this copy; a workspace of your own takes its tasks over with `cleo import`. If you trust the account that it belongs to, name the workspace in CLEO_SAFE_DIRECTORY.";
    RowDamaged = "E_ROW_DAMAGED", 3, "A row of the database cannot be read; it costs nothing but itself.",
        "See all such rows with `cleo doctor`, which names the command that removes each.";
    StoreReadOnly = "E_STORE_READ_ONLY", 3, "The database cannot be written; nothing was changed.",
        "Check permissions, free space and whether the disk is mounted read-only.";
    DiskFull = "E_DISK_FULL", 3, "There is no room to write; nothing was changed.",
        "Make room on the disk, or raise the quota or the limit on the size of files, and run the command again.";
    PathOutside = "E_PATH_OUTSIDE_WORKSPACE", 3, "A path leads out of the workspace.",
        "Use a path below the workspace root, without `..` and without links that lead out.";
    TreeUnknown = "E_TREE_UNKNOWN", 3, "Work is to be judged, and the folder of the caller belongs to no tree of the workspace's repository.",
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
        "If `retryable` is true, others are at work: try again later. If not, nothing more will come by itself.";
    PhaseNotFound = "E_PHASE_NOT_FOUND", 4, "No phase has this name.",
        "Look it up with `cleo phase list`.";
    ProgramMissing = "E_PROGRAM_MISSING", 5, "A program that cleo was asked to run is not there.",
        "Install it or correct its name.";
    PlanInvalid = "E_PLAN_INVALID", 6, "A plan cannot be carried out as it stands.",
        "Correct the places that the message names; `cleo plan check FILE` checks again.";
    TaskInvalid = "E_TASK_INVALID", 6, "A task's field has a value that it cannot have; nothing was changed.",
        "Correct the field as the message says.";
    FieldUnknown = "E_FIELD_UNKNOWN", 6, "A task has no such field; nothing was changed.",
        "Use the field that the message suggests.";
    TextControl = "E_TEXT_CONTROL", 6, "Text for people holds control characters; nothing was changed.",
        "Remove them.";
    TextTooLong = "E_TEXT_TOO_LONG", 6, "A text is longer than its field may be; nothing was changed.",
        "Shorten it, or move the detail into a file and name it with `--file`.";
    BatchInvalid = "E_BATCH_INVALID", 6, "A batch has faulty lines; none of its lines was taken.",
        "Correct the lines that the message names and run the command again.";
    ImportInvalid = "E_IMPORT_INVALID", 6, "A file holds something that cannot be taken over as it stands; nothing was imported.",
        "Correct what the report names, or import everything else with `--drop-faults`.";
    SkillInvalid = "E_SKILL_INVALID", 6, "A SKILL.md breaks the Agent Skills standard.",
        "Correct the places that the message names; `cleo skills validate PATH` checks again.";
    SkillInactive = "E_SKILL_INACTIVE", 6, "The skill is switched off.",
        "Choose another with `--template`, or set its status to active.";
    CatalogueInvalid = "E_CATALOGUE_INVALID", 6, "A protocol file or a shared file of the skills cannot be used.",
        "Correct the file and line that the message names.";
    TokenInvalid = "E_TOKEN_INVALID", 6, "A required token is missing or malformed.",
        "Give the value in the form that the message names.";
    TokensUnresolved = "E_TOKENS_UNRESOLVED", 6, "A prompt still holds tokens that nothing resolves.",
        "Correct the names in the template, or leave out `--strict`.";
    AgentInvalid = "E_AGENT_INVALID", 6, "A field of an agent has a value that it cannot have; nothing was changed.",
        "Correct the field as the message says.";
    EntryInvalid = "E_ENTRY_INVALID", 6, "A manifest entry is faulty; nothing was written.",
        "Correct every fault that the message names and append again.";
    ManifestInvalid = "E_MANIFEST_INVALID", 6, "The manifest holds lines that are no valid entries.",
        "Correct or remove the lines that `cleo manifest validate` names.";
    LineTorn = "E_LINE_TORN", 6, "A line of the manifest is incomplete, or two entries share a line.",
        "Have the agent append its entry again, then remove the torn part.";
    LineForeign = "E_LINE_FOREIGN", 6, "A line of the manifest is no JSON object in UTF-8.",
        "Remove the line; the entries around it count anyway.";
    LineTooLong = "E_LINE_TOO_LONG", 6, "A line of the manifest is longer than any entry may be.",
        "Move the detail into the output file and append a shorter entry.";
    LineDuplicate = "E_LINE_DUPLICATE", 6, "A line of the manifest repeats the id of an earlier one, which counts.",
        "Remove the line, or give its entry another id.";
    NotVerified = "E_NOT_VERIFIED", 6, "The task was spawned, and what its agent left does not verify.",
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
    DoctorFound = "E_DOCTOR_FOUND", 6, "Something that cleo depends on is broken.",
        "Run the command beside each finding of `cleo doctor`.";
    LockTimeout = "E_LOCK_TIMEOUT", 7, "Another process held the lock for too long; nothing was changed.",
        "Run the command again.";
    ConfigInvalid = "E_CONFIG_INVALID", 8, "A setting or environment variable has a value it cannot have.",
        "Correct the variable that the message names.";
    Clock = "E_CLOCK", 8, "The clock is behind the moment at which the task was claimed; nothing was changed.",
        "Correct the clock, or wait for it; leases are not judged by a clock that was set back.";
    StoreSchema = "E_STORE_SCHEMA", 8, "The database was written by another version of cleo.",
        "Export it with the program that wrote it, and import it into a new workspace.";
    ParentNotFound = "E_PARENT_NOT_FOUND", 10, "The parent named is no task; nothing was changed.",
        "Look it up with `cleo find WORDS`.";
    DependencyNotFound = "E_DEPENDENCY_NOT_FOUND", 4, "A dependency named is no task; nothing was changed.",
        "Look it up with `cleo find WORDS`.";
    TooDeep = "E_TOO_DEEP", 11, "Tasks are nested deeper than cleo allows; nothing was changed.",
        "Choose a parent nearer to the top.";
    Cycle = "E_CYCLE", 14, "Tasks would wait for each other in a circle; nothing was changed.",
        "Leave out one of the edges that the message names.";
    HasChildren = "E_HAS_CHILDREN", 16, "The task has children or dependents; nothing was changed.",
        "Deal with them first, or use the flag in `fix`.";
    SessionExists = "E_SESSION_EXISTS", 30, "An open session is there already; nothing was changed.",
        "Continue in it, or end it first.";
    SessionNotFound = "E_SESSION_NOT_FOUND", 31, "No session has this id.",
        "Look it up with `cleo session list`.";
    ScopeConflict = "E_SCOPE_CONFLICT", 32, "Somebody's open session is about the same tasks; nothing was changed.",
        "Choose another scope, or share it with `--force`.";
    ScopeInvalid = "E_SCOPE_INVALID", 33, "A session cannot be about this task; nothing was changed.",
        "Name a task that is open.";
    NotInScope = "E_TASK_NOT_IN_SCOPE", 34, "The task is not in the scope of the session; nothing was changed.",
        "Focus on a task in its scope, or start a session with another scope.";
    Claimed = "E_CLAIMED", 35, "Somebody holds the task; nothing was changed.",
        "Take other work with `cleo claim --next`, or wait until the lease is over.";
    ClaimLost = "E_CLAIM_LOST", 35, "The claim under which this was to be done is no longer the task's; nothing was changed.",
        "Stop the work on the task, or claim it again if it is free.";
    SessionRequired = "E_SESSION_REQUIRED", 36, "There is no open session to do this in; nothing was changed.",
        "Start one with `cleo session start`, or name one with `--session`.";
    SessionBlocked = "E_SESSION_CLOSE_BLOCKED", 37, "Somebody else leads the session, or who leads it still holds tasks of it; nothing was changed.",
        "Complete or release them first; `--force` ends it anyway.";
    GateFailed = "E_GATE_FAILED", 6, "The command that was to prove a gate failed; the gate stays open.",
        "Fix what the command found and run it again.";
    GateOpen = "E_GATE_OPEN", 6, "The task needs a gate that is open; it was not completed.",
        "Pass the gates that the message names, or name the gates it needs with `cleo update TASK --require-gate GATE`.";
    EvidenceStale = "E_EVIDENCE_STALE", 6, "Files of the task changed after a gate was passed, or a criterion shown or accepted.",
        "Take the evidence again: `cleo verify TASK --refresh` runs only what is stale; accept again by `cleo verify TASK --accept NUMBER` what no command shows.";
    CriterionFailed = "E_CRITERION_FAILED", 6, "The command of an acceptance criterion failed; this is recorded.",
        "Fix what the command found and run it again.";
    CriterionOpen = "E_CRITERION_OPEN", 6, "An acceptance criterion with a command was not shown to hold; the task was not completed.",
        "Run `cleo verify TASK --run-all`.";
    NotCompliant = "E_NOT_COMPLIANT", 6, "Work that is marked done breaks a rule.",
        "See what the result says of each rule and task; `cleo verify output TASK` checks one again.";
    GateOrder = "E_GATE_ORDER", 6, "A gate comes after another that is still open; nothing was changed.",
        "Pass the earlier gate first; `--force` passes it anyway and is recorded.";
    GateUnknown = "E_GATE_UNKNOWN", 42, "No gate has this name.",
        "Use one of the names in the message.";
    GateRounds = "E_GATE_ROUNDS", 44, "A gate failed once more after all rounds of the task; the failure is recorded and the gate is open.",
        "Let a person look at it before more is tried.";
    AgentUnknown = "E_AGENT_UNKNOWN", 43, "No agent has this name.",
        "Use one of the names in the message.";
    ContextCritical = "E_CONTEXT_CRITICAL", 52, "An orchestrator has used up four fifths of the tokens that it should read.",
        "Write the hand-over with `cleo orchestrator brief` and continue with a fresh context.";
    ProtocolMissing = "E_PROTOCOL_MISSING", 60, "A prompt lacks the subagent protocol block or one of its rules.",
        "Spawn with `--force-inject`, which adds the block, or append what `cleo research inject TASK` prints.";
    ReturnMessage = "E_RETURN_MESSAGE", 61, "An agent's last message is not one of the allowed sentences.",
        "Ask the agent again for exactly one of the sentences that the message lists.";
    EntryMissing = "E_ENTRY_MISSING", 62, "The manifest has no entry where one is due.",
        "Have the agent append it with `cleo manifest append`.";
    OutputMissing = "E_OUTPUT_MISSING", 63, "The output file is missing, empty, old or incomplete.",
        "Have the agent write it; `cleo verify output TASK` checks again.";
    Exists = "E_EXISTS", 101, "Something with this id is there already; nothing was changed.",
        "Use another id, or continue: the thing is there.";
    AgentFailed = "E_AGENT_FAILED", 80, "An agent could not answer, and nobody answered in its place.",
        "See what failed with `cleo runs show RUN`; `cleo agents show AGENT` says how the agent is reached.";
    Untrusted = "E_UNTRUSTED", 82, "Something would run, be called or be sent to that this user has not trusted on this machine, or not as it is now; nothing was started.",
        "Look at everything with `cleo trust`, which asks; `cleo trust --yes` trusts it in a script.";
    AgentDown = "E_AGENT_DOWN", 80, "A worker that was looked at is not there, or may not be called.",
        "See the reason beside each agent, and look again with `cleo agents check`.";
    RunNested = "E_RUN_NESTED", 11, "A run was asked for by an agent that is too many runs deep; nothing was begun.",
        "Have the outermost run do it: add the tasks, and let it carry them out.";
    RunCancelled = "E_RUN_CANCELLED", 130, "A run was cancelled before all its tasks were done.",
        "Resume it with `cleo runs resume RUN`, or begin another.";
    RunTimeout = "E_RUN_TIMEOUT", 124, "A run, or the one task of it, took longer than it may.",
        "Resume it with `cleo runs resume RUN`, or allow more with `--time-limit`, `--task-time-limit` or `--idle-limit`.";
    ModelUnreachable = "E_MODEL_UNREACHABLE", 80, "The server of the configured model could not be reached, or is in trouble.",
        "Try again later; `cleo config list` shows which server it is.";
    ModelRefused = "E_MODEL_REFUSED", 80, "The server of the configured model refused the request.",
        "Correct the key or the setting that the message names.";
    ModelAnswer = "E_MODEL_ANSWER", 80, "What the configured model's server answered cannot be used as an answer.",
        "Check `llm.provider`, `llm.baseUrl` and `llm.model` with `cleo config list`.";
    ModelTimeout = "E_MODEL_TIMEOUT", 124, "The configured model did not answer in time.",
        "Try again, or allow more time with `cleo config set llm.timeout 5m`.";
    StepsFailed = "E_STEPS_FAILED", 81, "Some of the things asked for failed; the others are done.",
        "See the errors beside the results.";
    Unauthorized = "E_UNAUTHORIZED", 9, "A request to the server needs a token, and its token is none that holds.",
        "Make one with `cleo serve token create` and send it as `Authorization: Bearer TOKEN`.";
    Forbidden = "E_FORBIDDEN", 9, "A request to the server is refused: its token, its host or its origin may not do this; nothing was changed.",
        "Use a token with the scope that the message names, or the address that the server printed.";
    TokenNotFound = "E_TOKEN_NOT_FOUND", 4, "No token of the server has this id.",
        "Look it up with `cleo serve token list`.";
    PathNotFound = "E_PATH_NOT_FOUND", 4, "The server has nothing under this path.",
        "Look it up in /openapi.json.";
    MethodRefused = "E_METHOD_REFUSED", 2, "The path is there, but not with this method.",
        "Use a method that the header `Allow` names.";
    BodyTooLarge = "E_BODY_TOO_LARGE", 2, "The body of a request is larger than the server takes; nothing was changed.",
        "Send less, or start the server with a larger `--max-body`.";
    MediaType = "E_MEDIA_TYPE", 2, "The body of a request is not of the type that is read here; nothing was changed.",
        "Send JSON with `Content-Type: application/json`.";
    RateLimited = "E_RATE_LIMITED", 7, "There were too many requests; this one was not carried out.",
        "Wait as long as the header `Retry-After` says, and send it again.";
    ServerBusy = "E_SERVER_BUSY", 7, "The server has as much to do as it takes, or is about to end; this request was not carried out.",
        "Wait as long as the header `Retry-After` says, and send it again.";
    Interrupted = "E_INTERRUPTED", 130, "cleo was interrupted (SIGINT) while it ran a command; the command was ended and its result is not kept.",
        "Run it again when you want its result.";
    Terminated = "E_TERMINATED", 143, "cleo was terminated (SIGTERM, SIGHUP) while it ran a command; the command was ended and its result is not kept.",
        "Run it again when you want its result.";
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
