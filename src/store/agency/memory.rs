//! The naive twin of the store of agents: everything in memory, nothing kept. For tests and for
//! commands that need no workspace.

mod chat;

use std::collections::{BTreeMap, BTreeSet};

use super::{
    Agency, AgencyTransaction, Agents, ConversationFilter, ConversationPage, Conversations,
    Glimpse, RunFilter, RunPage, Runs, StoodIn, Tally,
};
use crate::agent::Agent;
use crate::error::Result;
use crate::run::{Conversation, DELEGATION, Detail, Event, Message, Run, RunKind, RunStatus};

/// A store of agents in memory.
#[derive(Clone, Debug, Default)]
pub struct MemoryAgency {
    state: State,
}

/// Everything that is kept.
#[derive(Clone, Debug, Default)]
struct State {
    agents: Vec<Agent>,
    agents_revision: u64,
    chat: chat::ChatState,
    runs: Vec<Run>,
    events: Vec<Event>,
    uses: BTreeMap<String, String>,
    conversations: Vec<Conversation>,
    messages: Vec<Message>,
}

/// A transaction works on a copy, which a commit puts in the place of the state.
struct MemoryTransaction<'a> {
    kept: &'a mut State,
    state: State,
}

impl Agency for MemoryAgency {
    fn read(&mut self) -> Result<Box<dyn AgencyTransaction + '_>> {
        self.write()
    }

    fn write(&mut self) -> Result<Box<dyn AgencyTransaction + '_>> {
        let state = self.state.clone();
        Ok(Box::new(MemoryTransaction {
            kept: &mut self.state,
            state,
        }))
    }
}

impl AgencyTransaction for MemoryTransaction<'_> {
    fn commit(self: Box<Self>) -> Result<()> {
        *self.kept = self.state;
        Ok(())
    }
}

impl Agents for MemoryTransaction<'_> {
    fn agents(&self) -> Result<Vec<Agent>> {
        Ok(self.state.agents.clone())
    }

    fn agent(&self, id: &str) -> Result<Option<Agent>> {
        let found = self.state.agents.iter().find(|agent| agent.id == id);
        Ok(found.cloned())
    }

    fn runtime_agents(&self) -> Result<usize> {
        let runtime = self.state.agents.iter().filter(|agent| agent.is_runtime);
        Ok(runtime.count())
    }

    fn agents_revision(&self) -> Result<u64> {
        Ok(self.state.agents_revision)
    }

    fn put_agent(&mut self, agent: &Agent) -> Result<()> {
        self.state.agents_revision += 1;
        let agents = &mut self.state.agents;
        match agents.iter_mut().find(|there| there.id == agent.id) {
            Some(there) => *there = agent.clone(),
            None => agents.push(agent.clone()),
        }
        Ok(())
    }

    fn remove_agent(&mut self, id: &str) -> Result<bool> {
        let before = self.state.agents.len();
        self.state.agents.retain(|agent| agent.id != id);
        let is_gone = self.state.agents.len() < before;
        self.state.agents_revision += u64::from(is_gone);
        Ok(is_gone)
    }
}

impl Runs for MemoryTransaction<'_> {
    fn put_run(&mut self, run: &Run) -> Result<()> {
        let runs = &mut self.state.runs;
        match runs.iter_mut().find(|there| there.id == run.id) {
            Some(there) => *there = run.clone(),
            None => runs.push(run.clone()),
        }
        Ok(())
    }

    fn run(&self, id: &str) -> Result<Option<Run>> {
        Ok(self.state.runs.iter().find(|run| run.id == id).cloned())
    }

    fn runs(&self, filter: &RunFilter) -> Result<RunPage> {
        let fits = |run: &&Run| filter.takes(&tally(run));
        let runs: Vec<Run> = self.state.runs.iter().rev().filter(fits).cloned().collect();
        Ok(RunPage {
            total: runs.len() as u64,
            runs: runs
                .into_iter()
                .skip(filter.offset as usize)
                .take(filter.limit as usize)
                .collect(),
        })
    }

    fn owners(&self) -> Result<Vec<String>> {
        let open = self.state.runs.iter().filter(|run| !run.is_over());
        let owners: BTreeSet<_> = open.map(|run| run.owner.clone()).collect();
        Ok(owners.into_iter().collect())
    }

    fn unfinished(&self, owner: &str) -> Result<Vec<Run>> {
        let open = self.state.runs.iter().filter(|run| !run.is_over());
        Ok(open.filter(|run| run.owner == owner).cloned().collect())
    }

    fn executions_since(
        &self,
        user: Option<&str>,
        since: &str,
        limit: u32,
    ) -> Result<Vec<Glimpse>> {
        let filter = RunFilter {
            user: user.map(String::from),
            kind: Some(RunKind::Execution),
            limit,
            ..RunFilter::default()
        };
        let runs = self.runs(&filter)?.runs.into_iter();
        let glimpse = |run: Run| Glimpse {
            stood_in: stood_in(&run).is_some(),
            agent: run.agent,
            status: run.status,
            answered_by: run.answered_by,
            time_ms: run.execution_time_ms,
            started_at: run.started_at,
        };
        let recent = runs.filter(|run| run.started_at.as_str() >= since);
        Ok(recent.map(glimpse).collect())
    }

    fn tallies(&self) -> Result<Vec<Tally>> {
        let mut tallies: BTreeMap<_, Tally> = BTreeMap::new();
        for one in self.state.runs.iter().map(tally) {
            let key = (one.user.clone(), one.agent.clone());
            let key = (key, one.kind.word(), one.status.word());
            match tallies.get_mut(&key) {
                Some(there) => {
                    there.runs += 1;
                    there.timed += one.timed;
                    there.time_ms += one.time_ms;
                    there.last_started = one.last_started.max(there.last_started.clone());
                }
                None => drop(tallies.insert(key, one)),
            }
        }
        Ok(tallies.into_values().collect())
    }

    fn stood_in(&self) -> Result<Vec<StoodIn>> {
        let mut counts: BTreeMap<_, u64> = BTreeMap::new();
        for (run, agent) in self.state.runs.iter().filter_map(stood_in) {
            *counts.entry((run.user.clone(), agent.clone())).or_default() += 1;
        }
        let counts = counts.into_iter();
        let counts = counts.map(|((user, agent), runs)| StoodIn { user, agent, runs });
        Ok(counts.collect())
    }

    fn asked_back(&self) -> Result<Vec<(String, u64)>> {
        let mut counts: BTreeMap<_, u64> = BTreeMap::new();
        for run in self.state.runs.iter().filter(|run| has_asked_back(run)) {
            *counts.entry(run.user.clone()).or_default() += 1;
        }
        Ok(counts.into_iter().collect())
    }

    fn add_event(&mut self, run: &str, at: &str, kind: &str, detail: &Detail) -> Result<u64> {
        let cursor = self.state.events.len() as u64 + 1;
        self.state.events.push(Event {
            cursor,
            run: run.to_string(),
            at: at.to_string(),
            kind: kind.to_string(),
            detail: detail.clone(),
        });
        Ok(cursor)
    }

    fn events(&self, run: Option<&str>, since: u64, limit: u32) -> Result<Vec<Event>> {
        let fits = |event: &&Event| event.cursor > since && run.is_none_or(|run| run == event.run);
        let events = self.state.events.iter().filter(fits);
        Ok(events.take(limit as usize).cloned().collect())
    }

    fn delegations(
        &self,
        user: Option<&str>,
        before: Option<u64>,
        limit: u32,
    ) -> Result<Vec<Event>> {
        let is_whose = |id: &str| {
            let run = self.state.runs.iter().find(|run| run.id == id);
            user.is_none() || run.is_some_and(|run| Some(run.user.as_str()) == user)
        };
        let events = self.state.events.iter().rev();
        let events = events.filter(|event| {
            event.kind == DELEGATION
                && before.is_none_or(|before| event.cursor < before)
                && is_whose(&event.run)
        });
        Ok(events.take(limit as usize).cloned().collect())
    }

    fn last_event(&self) -> Result<u64> {
        Ok(self.state.events.last().map_or(0, |event| event.cursor))
    }

    fn use_agent(&mut self, agent: &str, at: &str) -> Result<()> {
        self.state.uses.insert(agent.to_string(), at.to_string());
        Ok(())
    }

    fn agent_uses(&self) -> Result<Vec<(String, String)>> {
        Ok(self.state.uses.clone().into_iter().collect())
    }
}

/// Finds the agent that failed of an execution that somebody else answered.
fn stood_in(run: &Run) -> Option<(&Run, &String)> {
    let is_answered = run.kind == RunKind::Execution && run.status == RunStatus::Completed;
    let agent = run.agent.as_ref()?;
    (is_answered && run.error.is_some()).then_some((run, agent))
}

/// Says whether an execution asked which agent is meant.
fn has_asked_back(run: &Run) -> bool {
    let is_done = run.kind == RunKind::Execution && run.status == RunStatus::Completed;
    is_done && run.agent.is_none() && run.answered_by.is_none()
}

fn tally(run: &Run) -> Tally {
    Tally {
        user: run.user.clone(),
        agent: run.agent.clone(),
        kind: run.kind,
        status: run.status,
        runs: 1,
        timed: u64::from(run.execution_time_ms.is_some()),
        time_ms: run.execution_time_ms.unwrap_or(0),
        last_started: run.started_at.clone(),
    }
}

impl Conversations for MemoryTransaction<'_> {
    fn put_conversation(&mut self, conversation: &Conversation) -> Result<()> {
        let conversations = &mut self.state.conversations;
        let there = conversations
            .iter_mut()
            .find(|one| one.id == conversation.id);
        match there {
            Some(there) => *there = conversation.clone(),
            None => conversations.push(conversation.clone()),
        }
        Ok(())
    }

    fn conversation(&self, id: &str) -> Result<Option<Conversation>> {
        let found = self.state.conversations.iter().find(|one| one.id == id);
        Ok(found.cloned())
    }

    fn conversations(&self, filter: &ConversationFilter) -> Result<ConversationPage> {
        let fits = |one: &&Conversation| {
            (filter.user.as_ref()).is_none_or(|user| *user == one.user)
                && (filter.agent.as_ref()).is_none_or(|agent| *agent == one.agent)
                && filter.status.is_none_or(|status| status == one.status)
        };
        let newest_first = self.state.conversations.iter().rev();
        let mut found: Vec<_> = newest_first.filter(fits).cloned().collect();
        found.sort_by(|a, b| b.last_message_at.cmp(&a.last_message_at));
        Ok(ConversationPage {
            total: found.len() as u64,
            conversations: found.into_iter().take(filter.limit as usize).collect(),
        })
    }

    fn add_message(&mut self, message: &Message) -> Result<()> {
        self.state.messages.push(message.clone());
        Ok(())
    }

    fn messages(&self, conversation: &str, limit: u32) -> Result<Vec<Message>> {
        let said = self.state.messages.iter();
        let said = said.filter(|one| one.conversation.as_deref() == Some(conversation));
        let said: Vec<_> = said.cloned().collect();
        let older = said.len().saturating_sub(limit as usize);
        Ok(said.into_iter().skip(older).collect())
    }

    fn messages_before(
        &self,
        conversation: &str,
        message: &str,
        limit: u32,
    ) -> Result<Option<Vec<Message>>> {
        let said = self.state.messages.iter();
        let own = said.filter(|one| one.conversation.as_deref() == Some(conversation));
        let own: Vec<_> = own.cloned().collect();
        let place = own.iter().position(|one| one.id == message);
        Ok(place.map(|place| own[place.saturating_sub(limit as usize)..place].to_vec()))
    }

    fn said_after(&self, cursor: u64, limit: u32) -> Result<Vec<(u64, Message)>> {
        let said = (1..).zip(self.state.messages.iter().cloned());
        let said = said.filter(|(at, one)| *at > cursor && one.conversation.is_some());
        Ok(said.take(limit as usize).collect())
    }

    fn last_said(&self) -> Result<u64> {
        Ok(self.state.messages.len() as u64)
    }

    fn message_count(&self, conversation: &str) -> Result<u64> {
        let said = self.state.messages.iter();
        let said = said.filter(|one| one.conversation.as_deref() == Some(conversation));
        Ok(said.count() as u64)
    }

    fn run_messages(&self, run: &str) -> Result<Vec<Message>> {
        let said = self.state.messages.iter();
        let said = said.filter(|one| one.run.as_deref() == Some(run));
        Ok(said.cloned().collect())
    }
}

#[cfg(test)]
crate::store::conformance::suite!(crate::store::agency::conformance, |_: &std::path::Path| {
    MemoryAgency::default()
});
