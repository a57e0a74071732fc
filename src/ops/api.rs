//! The table of operations: each is declared once, with its request, its reply and its function. The command line
//! calls a row with its arguments; HTTP answers at its address.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::tokens::Scope;
use super::{Context, claims, complete, log, phases, sessions, tasks, undo};
use crate::error::{Code, Error, Result};
use crate::phase::{CompletePhase, StartPhase};
use crate::session::{
    EndSession, OneSession, ResumeSession, SessionFilter, SetFocus, StartSession, WhichSession,
};
use crate::strict::Sent;
use crate::task::graph::Problem;

/// A type with a schema, which only the feature `schemas` asks for.
#[cfg(feature = "schemas")]
pub(crate) trait Described: schemars::JsonSchema {}
#[cfg(feature = "schemas")]
impl<T: schemars::JsonSchema> Described for T {}
/// A type with a schema, which only the feature `schemas` asks for.
#[cfg(not(feature = "schemas"))]
pub(crate) trait Described {}
#[cfg(not(feature = "schemas"))]
impl<T> Described for T {}

/// An operation with its types.
pub(crate) struct Operation<Request, Reply> {
    pub(crate) facts: Facts,
    pub(crate) run: fn(&mut Context, Request) -> Result<Reply>,
}

/// What faces need to know of an operation besides its types.
pub(crate) struct Facts {
    /// The command that does the same, which the log names.
    pub(crate) name: &'static str,
    pub(crate) scope: Scope,
    /// Method and path, such as `PATCH /api/work/tasks/{id}`. Braces hold fields of the request.
    pub(crate) address: &'static str,
    pub(crate) about: &'static str,
    /// The usual and the largest `limit` of a caller from elsewhere.
    pub(crate) limit: Option<(u32, u32)>,
    /// Whether status 201 tells that something was recorded.
    pub(crate) creates: bool,
    /// Whether the caller may name the agent that acts.
    pub(crate) has_agent: bool,
    /// Whether the reply is followed by the number of the operation that was recorded.
    pub(crate) is_recorded: bool,
}

impl<Request, Reply> Operation<Request, Reply> {
    const fn new(
        name: &'static str,
        scope: Scope,
        address: &'static str,
        about: &'static str,
        run: fn(&mut Context, Request) -> Result<Reply>,
    ) -> Operation<Request, Reply> {
        let writes = !matches!(scope, Scope::Read);
        Operation {
            facts: Facts {
                name,
                scope,
                address,
                about,
                limit: None,
                creates: false,
                has_agent: writes,
                is_recorded: writes,
            },
            run,
        }
    }

    const fn limit(mut self, usual: u32, max: u32) -> Operation<Request, Reply> {
        self.facts.limit = Some((usual, max));
        self
    }

    const fn creates(mut self) -> Operation<Request, Reply> {
        self.facts.creates = true;
        self
    }

    const fn for_agent(mut self) -> Operation<Request, Reply> {
        self.facts.has_agent = true;
        self
    }

    const fn unrecorded(mut self) -> Operation<Request, Reply> {
        self.facts.is_recorded = false;
        self
    }
}

/// The request of an operation that needs none.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Nothing {}

/// An operation whose types are erased.
pub(crate) trait Row: Sync {
    fn facts(&self) -> &Facts;

    /// Runs the operation and returns its reply as JSON.
    fn answer(&self, context: &mut Context, sent: Sent) -> Result<Vec<u8>>;

    #[cfg(feature = "schemas")]
    fn request(&self) -> (std::borrow::Cow<'static, str>, Describe);

    #[cfg(all(test, feature = "schemas"))]
    fn reply(&self) -> Describe;
}

#[cfg(feature = "schemas")]
pub(crate) type Describe = fn(&mut schemars::SchemaGenerator) -> schemars::Schema;

impl<Request: DeserializeOwned + Described, Reply: Serialize + Described> Row
    for Operation<Request, Reply>
{
    fn facts(&self) -> &Facts {
        &self.facts
    }

    fn answer(&self, context: &mut Context, sent: Sent) -> Result<Vec<u8>> {
        let request = sent.read();
        let request = request.map_err(|fault| Error::new(Code::InputInvalid, fault.to_string()))?;
        let reply = (self.run)(context, request)?;
        serde_json::to_vec(&reply).map_err(|cause| {
            Error::new(Code::Internal, "the reply cannot be written as JSON").because(cause)
        })
    }

    #[cfg(feature = "schemas")]
    fn request(&self) -> (std::borrow::Cow<'static, str>, Describe) {
        (Request::schema_name(), Request::json_schema)
    }

    #[cfg(all(test, feature = "schemas"))]
    fn reply(&self) -> Describe {
        |generator| generator.subschema_for::<Reply>()
    }
}

/// Notes what keeps tasks from ever starting as warnings, too.
fn warn_of_problems<T>(
    reply: T,
    context: &mut Context,
    problems: fn(&T) -> &[Problem],
) -> Result<T> {
    context.warn(&mut tasks::problem_warnings(problems(&reply)));
    Ok(reply)
}

macro_rules! operations {
    ($($row:ident, $name:literal, $scope:ident, $address:literal, $about:literal,
       ($request:ty) -> $reply:ty, $run:expr $(, $option:ident($($value:expr),*))*;)+) => {
        $(pub(crate) static $row: Operation<$request, $reply> =
            Operation::new($name, Scope::$scope, $address, $about, $run)$(.$option($($value),*))*;)+

        pub(crate) static ALL: &[&dyn Row] = &[$(&$row),+];
    };
}

operations! {
    LIST, "list", Read, "GET /api/work/tasks",
    "Lists tasks by id",
    (tasks::List) -> tasks::Listed, tasks::list_or_find, limit(50, 500);

    ADD, "add", Write, "POST /api/work/tasks",
    "Adds a task; one whose key is known adds nothing",
    (tasks::Draft) -> tasks::Added, tasks::add_one, creates();

    UPDATE, "update", Write, "PATCH /api/work/tasks/{id}",
    "Changes fields of a task; what is left out stays",
    (tasks::Patch) -> tasks::Updated, tasks::update;

    DELETE, "delete", Write, "DELETE /api/work/tasks/{id}",
    "Deletes a task",
    (tasks::Delete) -> tasks::Deleted, tasks::delete;

    START, "start", Write, "POST /api/work/tasks/{id}/start",
    "Starts the work on a task and claims it",
    (tasks::Start) -> tasks::Moved, tasks::start;

    COMPLETE, "complete", Write, "POST /api/work/tasks/{id}/complete",
    "Marks a task done, if it verifies",
    (complete::Complete) -> tasks::Moved, complete::complete;

    REOPEN, "reopen", Write, "POST /api/work/tasks/{id}/reopen",
    "Takes a closed task up again",
    (tasks::One) -> tasks::Moved, |context, one| tasks::reopen(context, one.task);

    CANCEL, "cancel", Write, "POST /api/work/tasks/{id}/cancel",
    "Gives a task up",
    (tasks::Cancel) -> tasks::Moved, tasks::cancel;

    CLAIM, "claim", Write, "POST /api/work/tasks/{id}/claim",
    "Claims a task",
    (claims::Claiming) -> claims::Claimed, claims::claim_one_or_next;

    CLAIM_NEXT, "claim", Write, "POST /api/work/claim",
    "Claims the most urgent ready task",
    (claims::Claiming) -> claims::Claimed, claims::claim_one_or_next;

    HEARTBEAT, "heartbeat", Write, "POST /api/work/tasks/{id}/heartbeat",
    "Extends the lease of a claim",
    (claims::Heartbeat) -> claims::Claimed, claims::extend_claim;

    RELEASE, "release", Write, "POST /api/work/tasks/{id}/release",
    "Gives a task back",
    (claims::Release) -> claims::Claimed, claims::release_task;

    ARCHIVE, "archive", Write, "POST /api/work/archive",
    "Puts closed tasks away: those named, or all that were closed before a moment",
    (tasks::Selection) -> tasks::Archival, tasks::archive;

    UNARCHIVE, "unarchive", Write, "POST /api/work/unarchive",
    "Takes tasks out of the archive, each with everything below it",
    (tasks::Unarchive) -> tasks::Archival, tasks::unarchive;

    UNDO, "undo", Write, "POST /api/work/undo",
    "Undoes an operation on tasks",
    (undo::Request) -> undo::Undone, undo::undo, unrecorded();

    DEPS, "deps", Read, "GET /api/work/tasks/{id}/deps",
    "Shows what a task depends on and what depends on it",
    (tasks::One) -> tasks::Dependencies, |context, one| warn_of_problems(tasks::deps(context, one.task)?, context, |it| &it.problems);

    READY, "orchestrator.ready", Read, "GET /api/work/ready",
    "Lists what can start now, most urgent first",
    (tasks::Extract) -> tasks::Ready,
    |context, part: tasks::Extract| warn_of_problems(tasks::ready(context, part.epic, Some(part.limit.unwrap_or(20)))?, context, |it| &it.problems), limit(50, 1_000);

    NEXT, "next", Read, "GET /api/work/next",
    "Shows the task to take next, and why",
    (tasks::Below) -> tasks::Next, |context, part| warn_of_problems(tasks::next(context, part.epic)?, context, |it| &it.problems);

    WAVES, "orchestrator.waves", Read, "GET /api/work/waves",
    "Shows open tasks in waves, from 0, as a run would take them",
    (tasks::Extract) -> tasks::Waves,
    |context, part: tasks::Extract| warn_of_problems(tasks::waves(context, part.epic, part.limit)?, context, |it| &it.problems), limit(100, 1_000);

    ANALYZE, "orchestrator.analyze", Read, "GET /api/work/analysis",
    "Shows how a graph is doing: totals, the longest way, where it is narrow",
    (tasks::Extract) -> tasks::Analysis,
    |context, part: tasks::Extract| warn_of_problems(tasks::analyze(context, part.epic, part.limit.unwrap_or(10))?, context, |it| &it.problems), limit(10, 1_000);

    SESSIONS, "session.list", Read, "GET /api/work/sessions",
    "Lists sessions",
    (SessionFilter) -> sessions::Sessions, |context, filter| sessions::list(context, filter.status);

    SESSION, "session.status", Read, "GET /api/work/sessions/{id}",
    "Shows a session with its notes, and how the work of it stands",
    (OneSession) -> sessions::Standing, |context, which| sessions::status(context, which.session);

    START_SESSION, "session.start", Write, "POST /api/work/sessions",
    "Opens a session",
    (StartSession) -> sessions::Moved, sessions::start, creates();

    END_SESSION, "session.end", Write, "POST /api/work/sessions/{id}/end",
    "Ends a session",
    (EndSession) -> sessions::Moved, sessions::end;

    RESUME_SESSION, "session.resume", Write, "POST /api/work/sessions/{id}/resume",
    "Opens an ended session again, led by the caller",
    (ResumeSession) -> sessions::Moved, sessions::resume;

    FOCUS, "focus", Read, "GET /api/work/focus",
    "Shows the session that the caller leads, or another, and the task in its focus",
    (WhichSession) -> sessions::Focus, |context, which: WhichSession| sessions::focus(context, which.session), for_agent();

    SET_FOCUS, "focus", Write, "PUT /api/work/focus",
    "Sets the task that a session works on now",
    (SetFocus) -> sessions::Focus, |context, it| sessions::set_focus(context, it.session, it.task);

    PHASES, "phase.list", Read, "GET /api/work/phases",
    "Lists phases in their order, with the number of tasks by status",
    (Nothing) -> phases::Phases, |context, _| phases::list(context);

    SET_PHASE, "phase.set", Write, "POST /api/work/phases/{name}/set",
    "Makes a phase the one that the project is in, whatever phase it was in before",
    (StartPhase) -> phases::Moved, |context, it| phases::start(context, &it.phase, true);

    START_PHASE, "phase.start", Write, "POST /api/work/phases/{name}/start",
    "Begins a phase; the one before must be completed",
    (StartPhase) -> phases::Moved, |context, it| phases::start(context, &it.phase, false);

    COMPLETE_PHASE, "phase.complete", Write, "POST /api/work/phases/{name}/complete",
    "Completes a phase whose tasks are done or cancelled",
    (CompletePhase) -> phases::Moved,
    |context, it| phases::complete(context, it.phase.as_deref(), it.force);

    LOG, "log", Read, "GET /api/work/log",
    "Lists what was done to tasks, newest first",
    (log::Query) -> log::Logged, log::log, limit(50, 500);
}
