use crate::agent::Agent;
use crate::error::Result;

pub(crate) trait Agents {
    /// Reads all agents in the order in which they were first written.
    fn agents(&self) -> Result<Vec<Agent>>;

    fn agent(&self, id: &str) -> Result<Option<Agent>>;

    /// Counts the agents that were registered while cleo ran.
    fn runtime_agents(&self) -> Result<usize>;

    /// Returns a number that grows with each change of an agent; 0 when there was none.
    fn agents_revision(&self) -> Result<u64>;

    fn put_agent(&mut self, agent: &Agent) -> Result<()>;

    fn remove_agent(&mut self, id: &str) -> Result<bool>;
}
