//! The table of operations: each is declared once, with its request, its reply and its function. The command line
//! calls a row with its arguments; HTTP answers at its address.

use super::operation::Run::{Anywhere, Inside};
use super::operation::{Facts, Frame, Nothing, Operation, Visitor};
use super::orchestrator::{self, Sources};
use super::tokens::Scope;
use super::work::runs::{self, listing, pages};
use super::{
    agent_tasks, agents, config, conversations, doctor, executions, log, manifest, phases, plans,
    proof, research, sessions, skills, spawn, tasks, transfer, undo, work, workers,
};
use crate::agent::draft::{self, Draft};
use crate::dispatch::Decision;
use crate::phase::{CompletePhase, StartPhase};
use crate::run::view::RunView;
use crate::session::{
    EndSession, OneSession, ResumeSession, SessionFilter, SetFocus, StartSession, WhichSession,
};
use crate::store::records::{ConversationFilter, RunFilter};
use crate::store::{Filter, OperationFilter};
use crate::task::drawing::Picture;
use crate::transfer::report::Report;

/// The function of a row: it needs a workspace unless `anywhere` precedes the request.
macro_rules! run {
    (anywhere $run:expr) => {
        Anywhere($run)
    };
    ($run:expr) => {
        Inside($run)
    };
}

macro_rules! operations {
    ($($row:ident, $name:literal, $scope:ident, $address:literal, $about:literal,
       $($place:ident)? ($request:ty) -> $reply:ty, $run:expr $(, $fact:ident: $value:expr)*;)+) => {
        $(pub(crate) static $row: Operation<$request, $reply> = Operation {
            facts: Facts {
                $($fact: $value,)*
                ..Facts::new($name, Scope::$scope, $address, $about)
            },
            run: run!($($place)? $run),
        };)+

        pub(crate) fn visit_all(visitor: &mut impl Visitor) {
            $(visitor.visit(&$row);)+
        }
    };
}

operations! {
    LIST, "list", Read, "GET /api/work/tasks",
    "Lists tasks by id",
    (Filter) -> tasks::Listed, tasks::list_or_find, limit: Some((50, 500));

    ADD, "add", Write, "POST /api/work/tasks",
    "Adds a task; one whose key is known adds nothing",
    (tasks::Draft) -> tasks::Added, tasks::add_one, creates: true, lists_faults: true;

    UPDATE, "update", Write, "PATCH /api/work/tasks/{id}",
    "Changes fields of a task; what is left out stays",
    (tasks::Patch) -> tasks::Updated, tasks::update, lists_faults: true;

    DELETE, "delete", Write, "DELETE /api/work/tasks/{id}",
    "Deletes a task",
    (tasks::Delete) -> tasks::Deleted, tasks::delete;

    START, "start", Write, "POST /api/work/tasks/{id}/start",
    "Starts the work on a task and claims it",
    (tasks::Start) -> tasks::Moved, tasks::start;

    COMPLETE, "complete", Write, "POST /api/work/tasks/{id}/complete",
    "Marks a task done, if it verifies",
    (proof::Complete) -> tasks::Moved, proof::complete;

    REOPEN, "reopen", Write, "POST /api/work/tasks/{id}/reopen",
    "Takes a closed task up again",
    (tasks::One) -> tasks::Moved, |context, one| tasks::reopen(context, one.task);

    CANCEL, "cancel", Write, "POST /api/work/tasks/{id}/cancel",
    "Cancels a task",
    (tasks::Cancel) -> tasks::Moved, tasks::cancel;

    CLAIM, "claim", Write, "POST /api/work/tasks/{id}/claim",
    "Claims a task",
    (tasks::Claiming) -> tasks::Moved, tasks::claim_one_or_next;

    CLAIM_NEXT, "claim", Write, "POST /api/work/claim",
    "Claims the most urgent ready task",
    (tasks::Claiming) -> tasks::Moved, tasks::claim_one_or_next;

    HEARTBEAT, "heartbeat", Write, "POST /api/work/tasks/{id}/heartbeat",
    "Extends the lease of a claim",
    (tasks::Heartbeat) -> tasks::Moved, tasks::extend_claim;

    RELEASE, "release", Write, "POST /api/work/tasks/{id}/release",
    "Gives a task back",
    (tasks::Release) -> tasks::Moved, tasks::release_task;

    ARCHIVE, "archive", Write, "POST /api/work/archive",
    "Puts closed tasks away: those named, or all that were closed before a moment",
    (tasks::Selection) -> tasks::Archival, tasks::archive;

    UNARCHIVE, "unarchive", Write, "POST /api/work/unarchive",
    "Restores archived tasks, each with everything below it",
    (tasks::Unarchive) -> tasks::Archival, tasks::unarchive;

    UNDO, "undo", Write, "POST /api/work/undo",
    "Undoes an operation on tasks",
    (undo::Request) -> undo::Undone, undo::undo, without_record: true;

    DEPS, "deps", Read, "GET /api/work/tasks/{id}/deps",
    "Shows what a task depends on and what depends on it",
    (tasks::One) -> tasks::Dependencies, tasks::deps;

    READY, "orchestrator.ready", Read, "GET /api/work/ready",
    "Lists what can start now, most urgent first",
    (tasks::Extract) -> tasks::Ready, tasks::ready, limit: Some((50, 1_000));

    NEXT, "next", Read, "GET /api/work/next",
    "Shows the task to take next, and why",
    (tasks::NextRequest) -> tasks::Next, tasks::next;

    WAVES, "orchestrator.waves", Read, "GET /api/work/waves",
    "Shows open tasks in waves, from 0, as a run would take them",
    (tasks::Extract) -> tasks::Waves, tasks::waves, limit: Some((100, 1_000));

    ANALYZE, "orchestrator.analyze", Read, "GET /api/work/analysis",
    "Shows how a graph is doing: totals, the longest way, where it is narrow",
    (tasks::Extract) -> tasks::Analysis, tasks::analyze, limit: Some((10, 1_000));

    SESSIONS, "session.list", Read, "GET /api/work/sessions",
    "Lists sessions",
    (SessionFilter) -> sessions::Sessions, sessions::list;

    SESSION, "session.status", Read, "GET /api/work/sessions/{id}",
    "Shows a session with its notes, and how the work of it stands",
    (OneSession) -> sessions::Standing, sessions::status;

    START_SESSION, "session.start", Write, "POST /api/work/sessions",
    "Opens a session",
    (StartSession) -> sessions::Moved, sessions::start, creates: true;

    END_SESSION, "session.end", Write, "POST /api/work/sessions/{id}/end",
    "Ends a session",
    (EndSession) -> sessions::Moved, sessions::end;

    RESUME_SESSION, "session.resume", Write, "POST /api/work/sessions/{id}/resume",
    "Opens an ended session again, led by the caller",
    (ResumeSession) -> sessions::Moved, sessions::resume;

    FOCUS, "focus", Read, "GET /api/work/focus",
    "Shows the session that the caller leads, or another, and the task in its focus",
    (WhichSession) -> sessions::Focus, sessions::focus, for_agent: true;

    SET_FOCUS, "focus", Write, "PUT /api/work/focus",
    "Sets the task that a session works on now",
    (SetFocus) -> sessions::Focus, sessions::set_focus;

    PHASES, "phase.list", Read, "GET /api/work/phases",
    "Lists phases in their order, with the number of tasks by status",
    (Nothing) -> phases::Phases, phases::list;

    SET_PHASE, "phase.set", Write, "POST /api/work/phases/{name}/set",
    "Makes a phase the one that the project is in, whatever phase it was in before",
    (StartPhase) -> phases::Moved, phases::set;

    START_PHASE, "phase.start", Write, "POST /api/work/phases/{name}/start",
    "Begins a phase; the one before must be completed",
    (StartPhase) -> phases::Moved, phases::start;

    COMPLETE_PHASE, "phase.complete", Write, "POST /api/work/phases/{name}/complete",
    "Completes a phase whose tasks are done or cancelled",
    (CompletePhase) -> phases::Moved, phases::complete;

    BEGIN, "orchestrator.start", Read, "GET /api/work/start",
    "Shows all that an orchestrating agent needs to begin, in under 1,000 tokens",
    (tasks::Below) -> orchestrator::Overview, orchestrator::start;

    STATUS, "orchestrator.status", Read, "GET /api/work/status",
    "Shows how far everything is, who works on what, and what came last",
    (tasks::Below) -> orchestrator::Overview, orchestrator::status;

    BRIEF, "orchestrator.brief", Read, "GET /api/work/brief",
    "Writes the hand-over for an agent that begins with an empty context",
    (tasks::Below) -> orchestrator::Overview, orchestrator::brief;

    VALIDATE, "orchestrator.validate", Read, "GET /api/work/validate",
    "Checks the rules for orchestrators and agents, ORC-001 to ORC-005 and OUT-001 to OUT-004",
    (tasks::Below) -> proof::Compliance, proof::validate;

    MEASURE, "orchestrator.context", Read, "POST /api/work/context",
    "Says how much an orchestrator has used of its tokens",
    anywhere (Sources) -> orchestrator::Measurement, orchestrator::measure;

    VERIFY_PROMPT, "verify.prompt", Read, "POST /api/work/verify/prompt",
    "Checks that a prompt carries the subagent protocol",
    anywhere (proof::PromptSent) -> proof::Report, proof::prompt;

    VERIFY_MESSAGE, "verify.message", Read, "POST /api/work/verify/message",
    "Checks that an agent's last message is one of the allowed sentences",
    anywhere (proof::MessageSent) -> proof::MessageVerdict, proof::check_message;

    VERIFY_MANIFEST, "verify.manifest", Read, "POST /api/work/verify/manifest",
    "Checks the manifest, or one entry of it",
    (proof::WhichEntry) -> proof::ManifestVerdict, proof::manifest;

    VERIFY_OUTPUT, "verify.output", Write, "POST /api/work/tasks/{id}/verify",
    "Checks what the agent of a task left, and records what was found",
    (proof::Output) -> proof::OutputVerdict, proof::output;

    VALIDATE_SKILL, "skills.validate", Read, "POST /api/work/skills/validate",
    "Judges the text of a SKILL.md by the Agent Skills standard",
    anywhere (skills::SkillSent) -> skills::Validated, skills::validate_text;

    SKILLS, "skills.list", Read, "GET /api/skills",
    "Lists the skills in reach",
    anywhere (skills::SkillQuery) -> skills::Listed, skills::list;

    SKILL, "skills.show", Read, "GET /api/skills/{name}",
    "Shows a skill with its text",
    anywhere (skills::SkillName) -> skills::Shown, skills::show;

    DISPATCH, "skills.dispatch", Read, "GET /api/work/tasks/{id}/dispatch",
    "Shows which skill a task gets, and why no other",
    (skills::Dispatch) -> Decision, skills::dispatch_task;

    PROMPT, "spawn", Read, "GET /api/work/tasks/{id}/prompt",
    "Shows the prompt that a task would get; records nothing",
    (spawn::Options) -> spawn::Spawned, spawn::rehearse;

    SPAWN, "spawn", Write, "POST /api/work/tasks/{id}/spawn",
    "Prepares the prompt of a task and records its receipt",
    (spawn::Options) -> spawn::Spawned, spawn::spawn;

    WHY, "why", Read, "GET /api/work/tasks/{id}/why",
    "Replays the receipt of a task and says what differs",
    (tasks::One) -> spawn::Why, spawn::why;

    LEFT, "verify.output", Read, "GET /api/work/tasks/{id}/manifest",
    "Shows what the agent of a task left, and what is wrong with it; records nothing",
    (tasks::One) -> proof::Left, proof::read_left;

    GATES, "verify", Read, "GET /api/work/tasks/{id}/gates",
    "Shows gates, evidence and criteria of a task",
    (tasks::One) -> proof::TaskGates, proof::show;

    SET_GATE, "verify", Write, "POST /api/work/tasks/{id}/gates/{gate}",
    "Sets a gate; a command, which only admins may give, decides by how it ends",
    (proof::GateRequest) -> proof::TaskGates, proof::set_gate;

    ACCEPT, "verify", Write, "POST /api/work/tasks/{id}/accept",
    "Records a statement, and other evidence, for a criterion without a command",
    (proof::Acceptance) -> proof::TaskGates, proof::accept_criterion;

    RENEW, "verify", Admin, "POST /api/work/tasks/{id}/renew",
    "Runs the commands of all criteria that are not proven, and again what is stale",
    (proof::RenewalRequest) -> proof::Renewed,
    |context, request| proof::renew(context, &request, &mut |_| {});

    IMPORT, "import", Admin, "POST /api/work/import",
    "Takes over the tasks of a text of cleo's or another tool's, all or none",
    (transfer::Request) -> Report, transfer::import_text;

    PLAN, "plan", Read, "POST /api/plans",
    "Makes a plan of a goal by rule, with who would get each step",
    anywhere (plans::GoalSent) -> plans::Planned, plans::make;

    CHECK_PLAN, "plan.check", Read, "POST /api/plans/check",
    "Checks a plan, and reports everything that prevents its execution",
    anywhere (plans::PlanSent) -> plans::Checked, plans::check;

    DRAW_PLAN, "plan.show", Read, "POST /api/plans/draw",
    "Draws a plan, for pages and for Graphviz",
    anywhere (plans::PlanSent) -> Picture, plans::draw;

    LINKS, "research.links", Read, "GET /api/work/tasks/{id}/links",
    "Lists the entries that a task is linked to, and whether each is still there",
    (tasks::One) -> research::Links, research::links;

    LINK, "research.link", Write, "POST /api/work/tasks/{id}/links",
    "Links a task and an entry of the manifest; doing it again changes nothing",
    (research::Pair) -> research::Linked, research::link, creates: true;

    BLOCK_FOR, "research.inject", Read, "GET /api/work/tasks/{id}/block",
    "Writes the protocol block for a task, to be appended to a prompt",
    (tasks::One) -> spawn::Injected, spawn::block_for;

    BLOCK, "research.inject", Read, "GET /api/work/block",
    "Writes the protocol block with its tokens as they are",
    anywhere (Nothing) -> spawn::Injected, spawn::block;

    ENTRIES, "manifest.list", Read, "GET /api/manifest",
    "Lists entries of the manifest, newest last",
    (manifest::Filter) -> manifest::Listed, manifest::list, limit: Some((100, 500));

    ENTRY, "manifest.show", Read, "GET /api/manifest/{id}",
    "Shows an entry of the manifest",
    (manifest::EntryId) -> manifest::read::Shown, manifest::show;

    VALIDATE_MANIFEST, "manifest.validate", Read, "GET /api/work/manifest/validate",
    "Checks every line of the manifest",
    (Nothing) -> manifest::Validated, manifest::validate;

    COMPACT, "manifest.compact", Write, "POST /api/work/manifest/compact",
    "Moves torn, foreign and repeated lines out of the manifest, into a file beside it",
    (manifest::Compact) -> manifest::Compaction, manifest::compact, without_record: true;

    LOG, "log", Read, "GET /api/work/log",
    "Lists what was done to tasks, newest first",
    (OperationFilter) -> log::Logged, log::log, limit: Some((50, 500));

    TASK, "show", Read, "GET /api/work/tasks/{id}",
    "Shows a task with all that is known of it",
    (tasks::One) -> work::TaskPage, work::page;

    ROWS, "list", Read, "GET /api/work/rows",
    "Lists tasks as they stand, counted, filtered and sorted",
    (work::RowsQuery) -> work::RowPage, work::rows, limit: Some((100, 500));

    GRAPH, "graph", Read, "GET /api/work/graph",
    "Draws the graph of an epic, or of everything: waves from left to right",
    (work::GraphQuery) -> work::GraphView, work::graph, is_versioned: true;

    EPICS, "graph", Read, "GET /api/work/epics",
    "Lists epics and other tasks with parts, with their progress",
    (Nothing) -> work::Epics, work::epics, is_versioned: true;

    NOW, "orchestrator.status", Read, "GET /api/work/now",
    "Shows the agents at work, what needs a person, and what was delivered",
    (work::NowQuery) -> work::Now, work::now;

    SEARCH, "find", Read, "GET /api/search",
    "Finds tasks, runs, agents and conversations by words",
    (work::SearchQuery) -> work::SearchPage, work::search, limit: Some((50, 50));

    RUNS, "runs.list", Read, "GET /api/runs",
    "Lists what agents carried out, newest first",
    (RunFilter) -> listing::Rows, listing::rows, limit: Some((50, 500));

    RUN, "runs.show", Read, "GET /api/runs/{id}",
    "Shows a run with its timeline",
    (runs::OneRun) -> RunView, runs::watch;

    RUN_WORDS, "runs.send", Write, "POST /api/runs/{id}/tasks/{task}/words",
    "Ends the attempt of an agent at work and begins the next one with the words",
    (runs::words::Words) -> runs::words::Sent, runs::words::send;

    RUN_STOP, "runs.stop", Write, "POST /api/runs/{id}/tasks/{task}/stop",
    "Stops an agent at work; the others of its run work on",
    (runs::words::Stop) -> runs::words::Stopped, runs::words::stop;

    RUN_EVENTS, "runs.logs", Read, "GET /api/runs/{id}/events",
    "Lists what happened in a run after a cursor",
    (pages::EventQuery) -> pages::EventPage, pages::events, limit: Some((200, 1_000));

    RUN_LOG, "runs.logs", Read, "GET /api/runs/{id}/log",
    "Shows lines of what an agent wrote",
    (pages::LogQuery) -> pages::LogPage, pages::log, limit: Some((500, 2_000));

    RUN_PROMPT, "runs.logs", Read, "GET /api/runs/{id}/tasks/{task}/attempts/{attempt}/prompt",
    "Shows the prompt of an attempt",
    (pages::OneAttempt) -> pages::PromptText, pages::prompt;

    RUN_DIFF, "runs.show", Read, "GET /api/runs/{id}/tasks/{task}/attempts/{attempt}/diff",
    "Shows what an attempt changed, by file",
    (pages::OneAttempt) -> runs::diff::Diff, runs::diff::diff;

    RUN_PROOF, "runs.show", Read, "GET /api/runs/{id}/proof",
    "Shows what an agent said of an attempt, and what cleo found",
    (runs::proof::ProofQuery) -> runs::proof::Proof, runs::proof::proof;

    SETTINGS, "config.list", Admin, "GET /api/config",
    "Lists the settings that count here, with where each is set; those of a server are read when it starts",
    anywhere (Nothing) -> config::Listed, config::list;

    SETTING, "config.get", Admin, "GET /api/config/{key}",
    "Shows a setting",
    anywhere (config::Setting) -> config::One, config::get;

    DOCTOR, "doctor", Admin, "GET /api/doctor",
    "Looks whether everything is in order",
    anywhere (doctor::Checks) -> doctor::Report, doctor::examine;

    CHECK_WORKERS, "agents.check", Admin, "POST /api/workers/check",
    "Asks workers whether they are there: those that are named, or all",
    anywhere (workers::Checking) -> workers::Checked, workers::check, asks: true;

    SYNC_AGENTS, "agents.list", Read, "GET /api/agents/sync",
    "Lists all agents in the order that decides ties",
    anywhere (Nothing) -> agents::sync::Synced, agents::sync::sync, frame: Frame::Success;

    AGENTS, "agents.list", Read, "GET /api/agents/list",
    "Lists agents with everything that is known of them",
    anywhere (agents::Lookup) -> agents::lookup::Listed, agents::list, frame: Frame::SuccessAndWarnings;

    DELEGATIONS, "agents.list", Read, "GET /api/agents/delegations",
    "Lists where messages went and why, newest first",
    (executions::Before) -> executions::Delegations,
    |context, wanted| executions::delegations(&context.surroundings, wanted),
    frame: Frame::Success, limit: Some((50, 200));

    AGENT_METRICS, "agents.metrics", Read, "GET /api/agents/metrics",
    "Counts executions: all, and those of each agent",
    anywhere (agents::Measuring) -> agents::metrics::Metrics, agents::metrics, frame: Frame::Success;

    CLEAN_AGENTS, "agents.cleanup", Admin, "POST /api/agents/cleanup",
    "Removes runtime agents",
    anywhere (agents::Cleanup) -> agents::change::Cleaned, agents::cleanup, frame: Frame::Success;

    CREATE_AGENT, "agents.register", Write, "POST /api/agents/create",
    "Registers an agent to stay",
    anywhere (Draft) -> agents::register::Registered, agents::register,
    frame: Frame::SuccessAndWarnings, creates: true, own: draft::OWN;

    AGENT, "agents.show", Read, "GET /api/agents/{id}",
    "Shows an agent",
    anywhere (agents::AgentId) -> agents::One, agents::show, frame: Frame::Success;

    CHANGE_AGENT, "agents.update", Write, "PUT /api/agents/{id}",
    "Changes an agent",
    anywhere (Draft) -> agents::One, agents::update, frame: Frame::SuccessAndWarnings, own: draft::OWN_AND_ID;

    REMOVE_AGENT, "agents.remove", Write, "DELETE /api/agents/{id}",
    "Removes an agent; a built-in one becomes as it was built",
    anywhere (agents::AgentId) -> agents::change::Removed, agents::remove, frame: Frame::Success;

    EXECUTIONS, "runs.list", Read, "GET /api/agents/execute",
    "Lists executions, newest first",
    (RunFilter) -> executions::reply::Executions,
    |context, filter| executions::reply::list(&context.surroundings, filter),
    frame: Frame::Success, limit: Some((50, 500));

    BEGIN_CONVERSATION, "conversations.create", Write, "POST /api/conversations/create",
    "Begins a conversation with an agent, with the supervisor, or with the chat",
    (conversations::Beginning) -> conversations::Kept,
    |context, beginning| conversations::begin(&context.surroundings, beginning),
    frame: Frame::Success, creates: true, own: &["userId"];

    CONVERSATIONS, "conversations.list", Read, "GET /api/conversations",
    "Lists conversations, the one in which something was said last first",
    (ConversationFilter) -> conversations::Listed,
    |context, wanted| conversations::list(&context.surroundings, wanted),
    frame: Frame::Success, limit: Some((50, 500));

    CONVERSATION, "conversations.show", Read, "GET /api/conversations/{id}",
    "Shows a conversation with what was said last, oldest first",
    (conversations::Part) -> conversations::Shown,
    |context, part| conversations::show(&context.surroundings, &part),
    frame: Frame::Success, limit: Some((50, 500));

    CHANGE_CONVERSATION, "conversations.update", Write, "PUT /api/conversations/{id}",
    "Gives a conversation another title, or ends it",
    (conversations::Change) -> conversations::Kept,
    |context, change| conversations::update(&context.surroundings, change),
    frame: Frame::Success, own: conversations::OWN;

    CREATE_AGENT_TASK, "agents.tasks.create", Write, "POST /api/tasks/create",
    "Adds a task",
    (agent_tasks::Fields) -> agent_tasks::Kept, agent_tasks::create,
    frame: Frame::SuccessAndWarnings, creates: true, own: agent_tasks::OWN;

    COUNT_AGENT_TASKS, "agents.tasks.stats", Read, "GET /api/tasks/stats",
    "Counts tasks by status and priority",
    (agent_tasks::Whose) -> agent_tasks::Counted, agent_tasks::stats, frame: Frame::Success;

    AGENT_TASKS, "agents.tasks.list", Read, "GET /api/tasks",
    "Lists tasks, the most urgent first",
    (agent_tasks::Wanted) -> agent_tasks::Listed, agent_tasks::list,
    frame: Frame::Success, limit: Some((100, 1_000));

    AGENT_TASK, "agents.tasks.show", Read, "GET /api/tasks/{id}",
    "Shows a task",
    (tasks::One) -> agent_tasks::Kept, agent_tasks::show, frame: Frame::SuccessAndWarnings;

    CHANGE_AGENT_TASK, "agents.tasks.update", Write, "PUT /api/tasks/{id}",
    "Changes a task and moves it, or neither; null empties a field, except title, status and priority",
    (agent_tasks::Fields) -> agent_tasks::Kept, agent_tasks::update,
    frame: Frame::SuccessAndWarnings, own: agent_tasks::OWN;
}
