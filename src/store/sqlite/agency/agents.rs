//! SQL of agents.

use rusqlite::{Row, named_params};

use crate::agent::Agent;
use crate::agent::draft::is_plain_id;
use crate::error::Result;
use crate::store::agency::Agents;
use crate::store::sqlite::columns::{checked_id, read_list, word};
use crate::store::sqlite::open::Open;

const COLUMNS: &str = "id, kind, user_id, name, description, role, objective, prompt, model,
    temperature, max_tokens, color, icon, tags, tools, intents, capability, skills, endpoint,
    command, healthcheck, timeout_ms, status, is_runtime, created_at, updated_at, last_used_at";

const PUT: &str = "INSERT INTO agents VALUES (NULL, :id, :kind, :user_id, :name, :description,
        :role, :objective, :prompt, :model, :temperature, :max_tokens, :color, :icon, :tags, :tools,
        :intents, :capability, :skills, :endpoint, :command, :healthcheck, :timeout_ms, :status,
        :is_runtime, :created_at, :updated_at, :last_used_at)
    ON CONFLICT (id) DO UPDATE SET kind = excluded.kind, user_id = excluded.user_id,
        name = excluded.name, description = excluded.description, role = excluded.role,
        objective = excluded.objective, prompt = excluded.prompt, model = excluded.model,
        temperature = excluded.temperature, max_tokens = excluded.max_tokens,
        color = excluded.color, icon = excluded.icon, tags = excluded.tags, tools = excluded.tools,
        intents = excluded.intents, capability = excluded.capability, skills = excluded.skills,
        endpoint = excluded.endpoint, command = excluded.command,
        healthcheck = excluded.healthcheck, timeout_ms = excluded.timeout_ms,
        status = excluded.status, is_runtime = excluded.is_runtime,
        created_at = excluded.created_at, updated_at = excluded.updated_at,
        last_used_at = excluded.last_used_at";

impl Agents for Open<'_> {
    fn agents(&self) -> Result<Vec<Agent>> {
        let sql = format!("SELECT {COLUMNS} FROM agents ORDER BY position");
        self.all(&sql, (), read)
    }

    fn agent(&self, id: &str) -> Result<Option<Agent>> {
        let sql = format!("SELECT {COLUMNS} FROM agents WHERE id = ?1");
        self.first(&sql, [id], read)
    }

    fn runtime_agents(&self) -> Result<usize> {
        let sql = "SELECT count(*) FROM agents WHERE is_runtime = 1";
        let count = self.first(sql, (), |row| row.get::<_, u32>(0))?;
        Ok(count.unwrap_or(0) as usize)
    }

    fn agents_revision(&self) -> Result<u64> {
        let sql = "SELECT revision FROM agents_revision";
        let revision = self.first(sql, (), |row| row.get::<_, i64>(0))?;
        Ok(revision.map_or(0, i64::unsigned_abs))
    }

    fn put_agent(&mut self, agent: &Agent) -> Result<()> {
        let list = |words: &[String]| serde_json::json!(words).to_string();
        self.execute(
            PUT,
            named_params! {
                ":id": agent.id, ":kind": agent.kind.word(), ":user_id": agent.user_id,
                ":name": agent.name, ":description": agent.description, ":role": agent.role.word(),
                ":objective": agent.objective, ":prompt": agent.prompt, ":model": agent.model,
                ":temperature": agent.temperature, ":max_tokens": agent.max_tokens,
                ":color": agent.color, ":icon": agent.icon, ":tags": list(&agent.tags),
                ":tools": list(&agent.tools), ":intents": list(&agent.intents),
                ":capability": agent.capability, ":skills": list(&agent.skills),
                ":endpoint": agent.endpoint, ":command": list(&agent.command),
                ":healthcheck": agent.healthcheck, ":timeout_ms": agent.timeout_ms,
                ":status": agent.status.word(), ":is_runtime": agent.is_runtime,
                ":created_at": agent.created_at, ":updated_at": agent.updated_at,
                ":last_used_at": agent.last_used_at,
            },
        )?;
        self.revise()
    }

    fn remove_agent(&mut self, id: &str) -> Result<bool> {
        let removed = self.execute("DELETE FROM agents WHERE id = ?1", [id])?;
        if removed > 0 {
            self.revise()?;
        }
        Ok(removed > 0)
    }
}

impl Open<'_> {
    fn revise(&self) -> Result<()> {
        let sql = "UPDATE agents_revision SET revision = revision + 1";
        self.execute(sql, ()).map(|_| ())
    }
}

fn read(row: &Row<'_>) -> rusqlite::Result<Agent> {
    Ok(Agent {
        id: checked_id(row, 0, is_plain_id)?,
        kind: word(row, 1)?,
        user_id: row.get(2)?,
        name: row.get(3)?,
        description: row.get(4)?,
        role: word(row, 5)?,
        objective: row.get(6)?,
        prompt: row.get(7)?,
        model: row.get(8)?,
        temperature: row.get(9)?,
        max_tokens: row.get(10)?,
        color: row.get(11)?,
        icon: row.get(12)?,
        tags: read_list(row, 13)?,
        tools: read_list(row, 14)?,
        intents: read_list(row, 15)?,
        capability: row.get(16)?,
        skills: read_list(row, 17)?,
        endpoint: row.get(18)?,
        command: read_list(row, 19)?,
        healthcheck: row.get(20)?,
        timeout_ms: row.get(21)?,
        status: word(row, 22)?,
        is_runtime: row.get(23)?,
        created_at: row.get(24)?,
        updated_at: row.get(25)?,
        last_used_at: row.get(26)?,
    })
}
