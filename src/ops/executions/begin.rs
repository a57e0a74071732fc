//! The beginning of an execution: the router chooses, and the record says why.

use std::sync::Arc;
use std::time::Instant;

use serde_json::json;

use super::finish::Outcome;
use super::record::Record;
use super::{Executor, Services, StartedExecution};
use crate::agent::SUPERVISOR;
use crate::error::Result;
use crate::id;
use crate::ops::agents::View;
use crate::ops::agents::change::{Sweep, sweep_runtime};
use crate::ops::checks_users;
use crate::ops::conversations::require_open;
use crate::route::{self, Decided, Decision, Query};
use crate::run::{Action, DELEGATION, Message, RoutedBy, Run, RunKind, Speaker, Usage};
use crate::store::{Store, Transaction};

/// Most messages of a conversation that an agent is given.
const HISTORY_MESSAGES: u32 = 20;
/// Most bytes of a conversation that an agent is given.
const HISTORY_BYTES: usize = 32_000;
/// Most characters of a message in the event of its delegation.
const QUERY_SHOWN: usize = 500;
/// Most candidates whose scores are recorded, best first.
const SCORES_SHOWN: usize = 20;

impl Executor {
    /// Begins an execution of a user: removes expired runtime agents, chooses an agent that `only` sees (`None`: any)
    /// and records it. If the answer is known at once, it ends in the same transaction.
    pub(crate) fn begin(
        &mut self,
        query: &Query,
        user: &str,
        only: Option<&str>,
    ) -> Result<StartedExecution> {
        self.store.act_for(None);
        self.remove_expired_agents()?;
        self.acts_for = only.map(Arc::from);
        self.store.act_for(self.acts_for.clone());
        let mut transaction = self.store.write_records()?;
        let seen = only.filter(|_| checks_users());
        let view = self.services.roster.view(&*transaction, seen)?;
        self.warnings.clone_from(&view.warnings);
        let mut begun = self.services.begin(&mut *transaction, &view, user, query)?;
        if let Some(answer) = self.services.find_offline_answer(&begun) {
            let mut ended = begun.clone();
            let outcome = Outcome::Answered(answer);
            self.services
                .record_end(&mut *transaction, &mut ended, &outcome)?;
            begun.ended = Some(Box::new(ended));
        }
        transaction.commit()?;
        Ok(begun)
    }

    /// Removes expired runtime agents, in a transaction of its own: the roster must not cache what a later failure
    /// would undo.
    fn remove_expired_agents(&mut self) -> Result<()> {
        if self.store.read()?.runtime_agents()? == 0 {
            return Ok(());
        }
        let millis = self.services.clock.now().timestamp_millis().unsigned_abs();
        let mut transaction = self.store.write_records()?;
        match sweep_runtime(&mut *transaction, Sweep::Automatic(millis))?[..] {
            [] => Ok(()),
            _ => transaction.commit().map(drop),
        }
    }
}

impl Services {
    /// Begins an execution. A refusal comes before anything is written.
    fn begin(
        &self,
        transaction: &mut dyn Transaction,
        view: &View,
        user: &str,
        query: &Query,
    ) -> Result<StartedExecution> {
        let since = Instant::now();
        let conversation = match query.conversation.as_deref() {
            Some(id) => {
                let owner = Some(user).filter(|_| checks_users());
                Some(require_open(transaction, id, owner)?)
            }
            None => None,
        };
        let talks_to = conversation.as_ref().map(|one| one.agent_id.as_str());
        let asked_for = query.agent.as_deref();
        let asked_for = asked_for.or(talks_to.filter(|agent| *agent != SUPERVISOR));
        let decision = view.index.route(&route::Request {
            message: &query.message,
            agent: asked_for,
            by: self.by,
            explain: Some(SCORES_SHOWN),
        });
        let supervisor = Arc::clone(view.require(SUPERVISOR)?);
        let agent = match decision.is_agent() {
            true => Arc::clone(view.require(decision.agent)?),
            false => Arc::clone(&supervisor),
        };
        let history = match &conversation {
            Some(one) => transaction.messages(&one.id, None, HISTORY_MESSAGES)?,
            None => None,
        };
        let history = history.map(select_history).unwrap_or_default();
        let number = transaction.last_event()? + 1;
        let run = Run {
            user: user.to_string(),
            agent: decision.is_agent().then(|| agent.id.clone()),
            requested_agent: asked_for.map(|id| id.chars().take(QUERY_SHOWN).collect()),
            routed_by: match decision.decided {
                Decided::Requested => RoutedBy::Requested,
                _ => RoutedBy::Rule,
            },
            routing_reason: decision.reason.clone(),
            routing_score: decision.score,
            conversation: conversation.as_ref().map(|one| one.id.clone()),
            started_at: self.clock.timestamp(),
            owner: self.lock()?.name.clone(),
            ..Run::new(
                id::make_id("exec", &self.clock, number),
                RunKind::Execution,
                SUPERVISOR,
                self.answerers.redact_key(&query.text),
            )
        };
        transaction.put_run(&run)?;
        let mut record = Record::new(run, self.clock);
        add_first_steps(&mut record, transaction, &decision, view.index.candidates())?;
        record.touch_conversation(transaction)?;
        Ok(StartedExecution {
            record,
            agent,
            supervisor,
            history,
            counted: Usage::default(),
            since,
            ended: None,
        })
    }
}

fn add_first_steps(
    record: &mut Record,
    transaction: &mut dyn Transaction,
    decision: &Decision<'_>,
    candidates: usize,
) -> Result<()> {
    let input = record.run.input.clone();
    let asked_for = record.run.requested_agent.clone();
    let asked_for = asked_for.as_deref().unwrap_or(SUPERVISOR);
    let fields = json!({"agentId": asked_for});
    record.add_event(transaction, "execution_start", fields)?;
    let metadata = json!({"sender": record.run.user, "requested_agent_id": asked_for});
    record.say(transaction, Speaker::User, &input, metadata, true)?;
    let analyzing = (SUPERVISOR, Action::Analyzing, 10);
    record.add_step(transaction, analyzing, "Looking at the message", json!({}))?;
    let query: String = input.chars().take(QUERY_SHOWN).collect();
    let scoring = format!("Scoring {candidates} candidate agents");
    let routing = |percent| (SUPERVISOR, Action::Routing, percent);
    record.add_step(transaction, routing(30), &scoring, json!({}))?;
    let chosen = json!({"agent": decision.agent, "score": decision.score});
    let selected = format!("Selected best match {}", decision.agent);
    let selected = decision.reason.replacen("Best match", &selected, 1);
    record.add_step(transaction, routing(40), &selected, chosen)?;
    let scores = decision.candidates.iter().flatten();
    let scores = scores.map(|one| format!("{} scored {}", one.id, one.score));
    let scores: Vec<String> = scores.collect();
    // The key is no longer in the query, which it may be in the message that was routed.
    let read = route::Message::parse(&query);
    let read: Vec<&str> = read.terms().collect();
    let lines =
        json!({"scoring": scoring, "message": read, "scores": scores, "selected": selected});
    record.add_event(transaction, "routing", lines)?;
    let delegation = decision.delegation(&query, record.run.started_at.clone());
    record.add_event(transaction, DELEGATION, json!(delegation))?;
    let Some(agent) = record.run.agent.clone() else {
        return Ok(());
    };
    let to = json!({"delegatedTo": agent, "reason": decision.reason});
    let handing = format!("Handing the message to {agent}");
    let delegating = (SUPERVISOR, Action::Delegating, 55);
    record.add_step(transaction, delegating, &handing, to)?;
    let analyzing = (agent.as_str(), Action::Analyzing, 70);
    record.add_step(transaction, analyzing, "Working on the message", json!({}))
}

/// Returns the last messages of a conversation, as many as an agent gets, without failures and offline answers.
fn select_history(mut messages: Vec<Message>) -> Vec<Message> {
    messages.retain(|one| {
        one.speaker != Speaker::System && one.metadata.get("answeredBy") != Some(&"offline".into())
    });
    let mut bytes = 0;
    let fits = |one: &&Message| {
        bytes += one.content.len();
        bytes <= HISTORY_BYTES
    };
    let kept = messages.iter().rev().take_while(fits).count();
    messages.split_off(messages.len() - kept)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::Detail;

    fn new_message(content: &str, speaker: Speaker, by: Option<&str>) -> Message {
        let by = by.map(|by| ("answeredBy".to_string(), by.into()));
        Message {
            id: String::new(),
            conversation: None,
            run: None,
            speaker,
            content: content.to_string(),
            metadata: Detail::from_iter(by),
            created_at: String::new(),
        }
    }

    #[test]
    fn agent_gets_latest_messages_without_failed_answers() {
        let large = "x".repeat(HISTORY_BYTES - 3);
        let kept = select_history(vec![
            new_message("a", Speaker::User, None),
            new_message(&large, Speaker::Agent, Some("model")),
            new_message("[offline]", Speaker::Agent, Some("offline")),
            new_message("b", Speaker::User, None),
            new_message("failed", Speaker::System, None),
            new_message("cc", Speaker::Agent, Some("worker")),
        ]);
        let kept: Vec<_> = kept.iter().map(|one| one.content.as_str()).collect();
        assert_eq!(kept, [&large, "b", "cc"]);
    }
}
