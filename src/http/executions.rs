//! Executions: a message, the agent that it is routed to, and the answer.

use std::time::Duration;

use axum::http::Method;
use bytes::Bytes;
use futures_util::stream::{self, StreamExt as _};
use serde::Deserialize;
use serde_json::json;
use tokio::sync::mpsc::UnboundedReceiver;

use super::answer::Answer;
use super::call::Call;
use super::events;
use super::executors::{ExecutionUpdate, Order};
use super::fault::{self, Shape};
use super::guard::Pass;
use super::keys::{self, Known};
use super::route::{Promise, Route};
use crate::clock::Clock;
use crate::error::{Code, Error, Result};
use crate::ops::executions::reply::Executed;
use crate::ops::executions::{self, StartedExecution};
use crate::ops::work::runs;
use crate::route::MessageRequest;
use crate::run::view::RunView;
use crate::run::{Line, RunKind};

/// Maximum time to wait for the end of an execution.
const WAIT_MAX: Duration = Duration::from_secs(120);
/// Poll interval for the end of an execution of an earlier call.
const LOOK: Duration = Duration::from_millis(50);

pub(super) fn routes() -> Vec<Route> {
    let routes = [
        Route::waiting(Method::POST, "/api/agents/execute", execute)
            .about("Routes a message to an agent; replies at once, or with ?wait=true after the answer")
            .query::<Wait>()
            .takes::<Input>()
            .answers::<Executed>(200)
            .sends(200, "text/event-stream")
            .errors(Shape::Bare),
        Route::get("/api/agents/execution/{id}", |call: &Call| answer_execution(call, call.path_segment("id")))
            .about("Shows an execution with its steps and messages")
            .answers::<Executed>(200)
            .errors(Shape::Plain),
        Route::post("/api/agents/execution/{id}/cancel", cancel)
            .about("Cancels an execution in progress; a later answer of its model is dropped")
            .answers::<Executed>(200)
            .errors(Shape::Success),
    ];
    routes.map(|route| route.tag("executions")).into()
}

#[derive(Debug, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
struct Wait {
    /// Reply at the end, or after two minutes with the state so far.
    #[serde(default)]
    wait: bool,
}

#[derive(Debug, Deserialize, schemars::JsonSchema)]
struct Input {
    #[serde(flatten)]
    said: MessageRequest,
    /// Stream it as server-sent events.
    #[serde(default)]
    stream: bool,
}

impl Input {
    fn make_order(self, call: &Call) -> Result<Order> {
        let text = self.said.input.as_deref().unwrap_or_default();
        if text.trim().is_empty() {
            return Err(Error::new(Code::InputInvalid, "Input is required"));
        }
        Ok(Order {
            user: call.user().to_string(),
            only: call.caller.visible_user().map(String::from),
            query: self.said.query()?,
        })
    }
}

fn execute(call: Call) -> Promise {
    Box::pin(async move {
        let Wait { wait } = call.query()?;
        let input = call.parse_body::<Input>()?;
        let (streams, order) = (input.stream, input.make_order(&call)?);
        let pass = Pass::for_headers(&call.server, &call.headers);
        let keys = &call.server.keys;
        let note = match call.header("idempotency-key")? {
            None => None,
            Some(key) => match keys.find_or_begin(call.user(), key, &call.body).await? {
                Known::New(note) => Some(note),
                // The record of the execution that the earlier call started, and the end.
                Known::Begun(id) if streams => {
                    let first = events::event("execution", &find_executed(&call, &id)?);
                    return Ok(events::stream(stream::iter([first]), pass));
                }
                Known::Begun(id) if wait => return wait_until_over(&call, &id, &pass).await,
                Known::Begun(id) => return answer_execution(&call, &id),
                Known::Other => return Ok(keys::refuse_reuse(key)),
            },
        };
        let (mut begun, mut told) = call.server.executors.begin(order, note).await?;
        if streams {
            return Ok(stream_execution(begun, told, pass));
        }
        if wait {
            let ended = async {
                loop {
                    match told.recv().await {
                        Some(ExecutionUpdate::Over(ended)) => break ended.map(|ended| *ended),
                        Some(_) => {}
                        None => break Err(fault::busy()),
                    }
                }
            };
            begun = wait_for(&pass, ended).await??;
        }
        Answer::ok(&Executed::new(begun.view()))
    })
}

async fn wait_until_over(call: &Call, id: &str, pass: &Pass) -> Result<Answer> {
    let ended = async {
        while !require_execution(call, id)?.run.record.is_over() {
            tokio::time::sleep(LOOK).await;
        }
        answer_execution(call, id)
    };
    wait_for(pass, ended).await?
}

async fn wait_for<T>(pass: &Pass, told: impl Future<Output = T>) -> Result<T> {
    let late = "the execution is still in progress; check again later";
    tokio::select! {
        told = told => Ok(told),
        refused = pass.wait_until_refused() => Err(refused),
        () = tokio::time::sleep(WAIT_MAX) => Err(Error::new(Code::RunTimeout, late)),
    }
}

fn answer_execution(call: &Call, id: &str) -> Result<Answer> {
    let mut executed = find_executed(call, id)?;
    executed.execution.partial = call.server.feed.so_far(id);
    Answer::ok(&executed)
}

fn find_executed(call: &Call, id: &str) -> Result<Executed> {
    require_execution(call, id).map(Executed::new)
}

fn require_execution(call: &Call, id: &str) -> Result<RunView> {
    let nothing = || Error::new(Code::RunNotFound, "Execution not found");
    let shown = runs::view(&mut *call.context("runs.show")?, id, false)?;
    let shown = shown.filter(|shown| shown.run.record.kind == RunKind::Execution);
    shown.ok_or_else(nothing)
}

fn cancel(call: &Call) -> Result<Answer> {
    let (id, clock) = (call.path_segment("id"), call.server.surroundings.clock);
    let mut context = call.context("runs.cancel")?;
    let (visible, user) = (call.visible_user(), call.user());
    executions::cancel(&mut context.store, &clock, id, visible, user)?;
    drop(context);
    call.server.feed.wake();
    answer_execution(call, id)
}

/// Streams an execution as server-sent events: `execution` with the record at the start, `run` for
/// events, `piece` for parts of the answer, `done` with the final record, or `error`.
fn stream_execution(
    begun: StartedExecution,
    told: UnboundedReceiver<ExecutionUpdate>,
    pass: Pass,
) -> Answer {
    let run = begun.run().id.clone();
    let first = events::event("execution", &Executed::new(begun.view()));
    let rest = stream::unfold((told, run), |(mut told, run)| async move {
        let heard = told.recv().await?;
        Some((write_event(&run, heard), (told, run)))
    });
    events::stream(stream::iter([first]).chain(rest), pass)
}

fn write_event(run: &str, heard: ExecutionUpdate) -> Bytes {
    match heard {
        ExecutionUpdate::Event(event) => {
            let mut data = json!(Line::from(&event));
            data["at"] = json!(event.at);
            events::event("run", &data)
        }
        ExecutionUpdate::Piece { agent, piece } => {
            let at = Clock::System.timestamp();
            let data = json!({"runId": run, "agent": agent, "piece": piece, "at": at});
            events::event("piece", &data)
        }
        ExecutionUpdate::Over(Ok(begun)) => events::event("done", &Executed::new(begun.view())),
        ExecutionUpdate::Over(Err(error)) => {
            events::event("error", &json!({"error": error.display_message()}))
        }
    }
}
