//! The naive twin of the store of agents: everything in memory, nothing kept. For tests and for
//! commands that need no workspace.

mod chat;

use super::{Agency, AgencyTransaction, Agents};
use crate::agent::Agent;
use crate::error::Result;

/// A store of agents in memory.
#[derive(Clone, Debug, Default)]
pub struct MemoryAgency {
    state: State,
}

/// Everything that is kept.
#[derive(Clone, Debug, Default)]
struct State {
    agents: Vec<Agent>,
    chat: chat::ChatState,
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

    fn put_agent(&mut self, agent: &Agent) -> Result<()> {
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
        Ok(self.state.agents.len() < before)
    }
}

#[cfg(test)]
super::conformance::suite!(|_: &std::path::Path| MemoryAgency::default());
