//! Executions in the form of the specification.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::{Code, Result};
use crate::ops::{Surroundings, runs};
use crate::run::view::RunView;
use crate::run::{AnsweredBy, Detail, Message, RoutedBy, Run, RunKind, RunStatus, Speaker, Step};
use crate::store::Store;
use crate::store::records::RunFilter;

/// An execution, in the form of the specification.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(crate) struct Executed {
    success: bool,
    pub(crate) execution: Execution,
}

#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(crate) struct Executions {
    /// Newest first, without steps and messages.
    executions: Vec<Execution>,
    /// How many there are without the limit.
    total: u64,
}

pub(crate) fn list(surroundings: &Surroundings, filter: RunFilter) -> Result<Executions> {
    let filter = RunFilter {
        kind: Some(RunKind::Execution),
        ..filter
    };
    let listed = runs::list(surroundings, &filter)?;
    Ok(Executions {
        executions: listed.runs.into_iter().map(Execution::new).collect(),
        total: listed.total,
    })
}

/// An execution: the record of the specification, and what cleo knows besides.
#[derive(Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Execution {
    id: String,
    /// The agent that was asked for; the supervisor when none was.
    agent_id: String,
    status: RunStatus,
    start_time: String,
    end_time: Option<String>,
    input: String,
    output: Option<String>,
    /// The answer of a model so far, while it is streamed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) partial: Option<String>,
    /// Where the message went; none when no agent fits.
    delegated_to: Option<String>,
    routing: Routing,
    /// The source of the answer; `offline` is none.
    answered_by: Option<AnsweredBy>,
    model: Option<String>,
    conversation_id: Option<String>,
    user: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    messages: Option<Vec<Said>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    current_step: Option<String>,
    error: Option<String>,
    metrics: Metrics,
    #[serde(skip_serializing_if = "Option::is_none")]
    steps: Option<Vec<Step>>,
}

/// Why the message went where it went.
#[derive(Debug, Serialize, schemars::JsonSchema)]
struct Routing {
    by: RoutedBy,
    score: u32,
    reason: String,
}

/// Usage of an execution, if it was counted.
#[derive(Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Metrics {
    total_tokens: Option<u64>,
    input_tokens: Option<u64>,
    output_tokens: Option<u64>,
    /// In milliseconds.
    execution_time: Option<u64>,
    /// Always 0: agents of executions have no tools.
    tool_calls_count: u32,
    handoffs_count: u32,
    error_count: u32,
    /// In US dollars.
    cost: Option<f64>,
}

/// A message, in the form of the specification.
#[derive(Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Said {
    id: String,
    #[serde(rename = "type")]
    kind: Kind,
    content: String,
    timestamp: String,
    metadata: Detail,
    /// Always empty: agents of executions have no tools.
    tool_calls: Vec<Value>,
}

/// The sender of a message, in the words of the specification.
#[derive(Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Kind {
    Human,
    Ai,
    System,
}

impl Executed {
    pub(crate) fn new(shown: RunView) -> Executed {
        let mut execution = Execution::new(shown.run.record);
        let said = |message| Said::new(message, &execution.id);
        execution.messages = Some(shown.messages.into_iter().map(said).collect());
        execution.current_step = shown.steps.last().map(|step| step.id.clone());
        execution.steps = Some(shown.steps);
        Executed {
            success: true,
            execution,
        }
    }
}

impl Execution {
    fn new(run: Run) -> Execution {
        let usage = run.usage;
        Execution {
            metrics: Metrics {
                total_tokens: usage.and_then(|usage| usage.total_tokens),
                input_tokens: usage.and_then(|usage| usage.input_tokens),
                output_tokens: usage.and_then(|usage| usage.output_tokens),
                execution_time: run.execution_time_ms,
                tool_calls_count: 0,
                handoffs_count: u32::from(run.agent.is_some()),
                error_count: u32::from(run.error.is_some()),
                cost: run.cost,
            },
            routing: Routing {
                by: run.routed_by,
                score: run.routing_score,
                reason: run.routing_reason,
            },
            id: run.id,
            agent_id: run.requested_agent.unwrap_or(run.supervisor),
            status: match run.status {
                // The specification knows no other status for an execution that came to its end.
                RunStatus::Unanswered => RunStatus::Completed,
                status => status,
            },
            start_time: run.started_at,
            end_time: run.completed_at,
            input: run.input,
            output: run.output,
            partial: None,
            delegated_to: run.agent,
            answered_by: run.answered_by,
            model: run.model,
            conversation_id: run.conversation,
            user: run.user,
            messages: None,
            current_step: None,
            error: run.error,
            steps: None,
        }
    }
}

impl Said {
    fn new(message: Message, execution: &str) -> Said {
        let mut metadata = message.metadata;
        metadata.insert("execution_id".to_string(), execution.into());
        Said {
            id: message.id,
            kind: match message.speaker {
                Speaker::User => Kind::Human,
                Speaker::Agent => Kind::Ai,
                Speaker::System => Kind::System,
            },
            content: message.content,
            timestamp: message.created_at,
            metadata,
            tool_calls: Vec::new(),
        }
    }
}

#[derive(Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Delegated {
    /// Its number among all events.
    cursor: u64,
    execution_id: String,
    score: u32,
    #[serde(flatten)]
    #[schemars(with = "crate::route::Delegation")]
    told: Detail,
}

#[derive(Debug, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Before {
    limit: u32,
    before: Option<u64>,
}

#[derive(Debug, Default, Serialize, schemars::JsonSchema)]
pub(crate) struct Delegations {
    /// Newest first.
    delegations: Vec<Delegated>,
    /// How many there are in all.
    total: u64,
}

/// Lists the delegations that the caller sees.
pub(crate) fn delegations(surroundings: &Surroundings, wanted: Before) -> Result<Delegations> {
    let Some(mut store) = surroundings.workspace()?.store_if_there()? else {
        return Ok(Delegations::default());
    };
    let transaction = store.read()?;
    let events =
        transaction.delegations(surroundings.visible_user(), wanted.before, wanted.limit)?;
    let mut delegations = Vec::with_capacity(events.len());
    for event in events {
        let run = match transaction.run(&event.run) {
            // A list leaves damaged rows out.
            Err(error) if error.code == Code::RowDamaged => continue,
            run => run?,
        };
        delegations.push(Delegated {
            cursor: event.cursor,
            execution_id: event.run,
            score: run.map_or(0, |run| run.routing_score),
            told: event.detail,
        });
    }
    let executions = RunFilter {
        kind: Some(RunKind::Execution),
        ..RunFilter::default()
    };
    Ok(Delegations {
        delegations,
        total: transaction
            .runs(surroundings.visible_user(), &executions)?
            .total,
    })
}
