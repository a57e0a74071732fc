//! `cleo agents …`

pub(in crate::cli) mod execute;
mod register;
pub(in crate::cli) mod route;

use super::screen::{Screen, Tone, count, dim, plain, status, strong};
use crate::ops::agents::change::{Cleaned, Removed};
use crate::ops::agents::lookup::Listed;
use crate::ops::agents::metrics::Metrics;
use crate::ops::agents::{self, AgentId, Cleanup, Import, Lookup, Measuring, Shown};
use crate::ops::api;
use crate::ops::trust::{Standing, describe_worker};
use crate::ops::workers::{Checked, Checking};

commands! {
    pub(super) (face, it)
    /// List agents, in the order that breaks ties in routing
    #[command(after_help = "\
Examples:
  cleo agents list
  cleo agents list --status active --role specialist
  cleo agents list --capability web-crawler
  cleo agents list --skill search --skill ner --all")]
    List(Lookup) => face.call(&api::AGENTS, it, show_list);
    /// Show an agent with all its settings
    #[command(after_help = "Examples:\n  cleo agents show toby-technical")]
    Show(AgentId) => face.call(&api::AGENT, it, |screen, one| show_agent(screen, &one.agent));
    /// Register an agent; it can be used at once
    Register(Box<register::Arguments>) => {
        face.call(&api::CREATE_AGENT, it.draft()?, |screen, registered| {
            let verb = if registered.created { "Registered" } else { "Changed" };
            screen.say(Tone::Good, verb).say(Tone::Plain, " ");
            show_agent(screen, &registered.one.agent);
        })
    };
    /// Change, pause or archive an agent
    Update(Box<register::UpdateArguments>) => {
        face.call(&api::CHANGE_AGENT, it.draft()?, |screen, one| {
            screen.say(Tone::Good, "Changed").say(Tone::Plain, " ");
            show_agent(screen, &one.agent);
        })
    };
    /// Remove an agent; a changed built-in agent is reset
    #[command(after_help = "Examples:\n  cleo agents remove lore-keeper")]
    Remove(AgentId) => face.call(&api::REMOVE_AGENT, it, show_removed);
    /// Remove temporary agents; other agents are never touched
    #[command(after_help = "\
Examples:
  cleo agents cleanup
  cleo agents cleanup --expired                       only those whose id is older than 30 minutes
  cleo agents cleanup --expired --now 1756443000000")]
    Cleanup(Cleanup) => face.call(&api::CLEAN_AGENTS, it, show_cleaned);
    /// Register all agents in a file, or none
    #[command(after_help = "\
Examples:
  cleo agents import agents.yaml
  cleo agents import workers.json --replace
  jq -c '.agents[]' registry.json | cleo agents import -")]
    Import(Import) => {
        face.anywhere("agents.import", |around, notes| agents::import(around, notes, it), |screen, done| {
            let text = format!("{}, {} of them updated", count(done.total, "agent", "agents"), done.updated);
            screen.pair(Tone::Good, "Imported ", text);
            for agent in &done.agents {
                screen.say(Tone::Dim, format!("  {}", agent.id));
                let what = agent.is_worker().then(|| format!("  would {}", describe_worker(agent)));
                screen.line(Tone::Plain, what.unwrap_or_default());
            }
        })
    };
    /// Route a message to an agent, and record its answer as a run
    Execute(execute::Arguments) => face.run("agents.execute", it, execute::run);
    /// Check whether workers respond, all in parallel (exit 80 if one does not)
    #[command(after_help = "\
Calls the health check URL of a worker, if it has one. Other workers get a request with intent
health.check and dry_run in input.metadata.extra; every valid reply counts, even one that reports
a failure. Untrusted workers are not called.

Examples:
  cleo agents check
  cleo agents check summarizer crawler
  cleo agents check --json | jq -r '.result.checks[] | select(.up | not) | .agent'")]
    Check(Checking) => face.call(&api::CHECK_WORKERS, it, show_checked);
    /// Show usage, latency and success rate of agents
    #[command(after_help = "\
Examples:
  cleo agents metrics
  cleo agents metrics --user tester@laptop --jq '.result.dashboard'")]
    Metrics(Measuring) => face.call(&api::AGENT_METRICS, it, show_metrics);
}

fn show_agent(screen: &mut Screen, shown: &Shown) {
    let agent = &shown.agent;
    screen.headline(&agent.id, agent.status, &agent.name);
    let mut field = |name: &str, value: &str| {
        screen.field(name, value);
    };
    field("state", shown.state.word());
    field("kind", agent.kind.word());
    field("role", agent.role.word());
    field("about", &agent.description);
    field("objective", &agent.objective);
    field("tags", &agent.tags.join(", "));
    field("tools", &agent.tools.join(", "));
    field("intents", &agent.intents.join(", "));
    field("capability", agent.capability.as_deref().unwrap_or(""));
    field("skills", &agent.skills.join(", "));
    if agent.is_worker() {
        field("endpoint", agent.endpoint.as_deref().unwrap_or(""));
        field("command", &agent.command.join(" "));
        field("timeout", &format!("{} ms", agent.timeout_ms));
    } else {
        let (model, heat, most) = (&agent.model, agent.temperature, agent.max_tokens);
        field(
            "model",
            &format!("{model}, temperature {heat}, at most {most} tokens"),
        );
    }
    field("standing", shown.standing.map_or("", Standing::word));
    field("file", shown.file.as_deref().unwrap_or(""));
    screen.section("Prompt", &agent.prompt);
}

fn show_list(screen: &mut Screen, listed: &Listed) {
    let rows = listed.agents.iter().map(|Shown { agent, state, .. }| {
        [
            strong(&agent.id),
            status(agent.status),
            plain(state),
            plain(agent.kind),
            plain(agent.role),
            plain(agent.tags.join(", ")),
        ]
    });
    let head = ["AGENT", "STATUS", "STATE", "KIND", "ROLE", "TAGS"];
    screen.list("no agents", &head, rows);
}

fn show_removed(screen: &mut Screen, removed: &Removed) {
    let word = if removed.restored {
        "Restored"
    } else {
        "Removed"
    };
    screen.say(Tone::Good, word).say(Tone::Plain, " ");
    screen.line(Tone::Strong, &removed.one.agent.agent.id);
    if !removed.unassigned.is_empty() {
        let tasks = count(removed.unassigned.len(), "task is", "tasks are");
        screen.line(Tone::Plain, format!("{tasks} no longer assigned"));
    }
}

fn show_cleaned(screen: &mut Screen, cleaned: &Cleaned) {
    let gone = count(cleaned.count.removed, "agent", "agents");
    let left = count(cleaned.count.after, "agent remains", "agents remain");
    screen.pair(Tone::Good, "Removed ", format!("{gone}; {left}"));
    for id in &cleaned.cleaned_up {
        screen.line(Tone::Dim, format!("  {id}"));
    }
}

fn show_checked(screen: &mut Screen, checked: &Checked) {
    let rows = checked.checks.iter().map(|check| {
        let why = check.fault.iter().chain(&check.message);
        let why: Vec<&str> = why.map(String::as_str).collect();
        [
            strong(&check.agent),
            plain(check.kind),
            status(if check.up { "up" } else { "down" }),
            dim(check.how),
            dim(format!("{} ms", check.time_ms)),
            plain(why.join(": ")),
        ]
    });
    let head = ["AGENT", "KIND", "", "BY", "TIME", "WHY"];
    screen.list("no workers", &head, rows);
}

fn show_metrics(screen: &mut Screen, metrics: &Metrics) {
    let time =
        |average: Option<f64>| average.map_or(String::new(), |average| format!("{average:.1} ms"));
    let dashboard = &metrics.dashboard;
    let unanswered = dashboard.unanswered_executions;
    let answered = dashboard.completed_executions.saturating_sub(unanswered);
    screen
        .field("active agents", dashboard.active_agents)
        .field("answered", answered)
        .field("unanswered", unanswered)
        .field("failed", dashboard.failed_executions)
        .field("average", time(dashboard.average_response_time_ms));
    for pattern in &dashboard.routing_patterns {
        let (used, percent) = (&pattern.used, pattern.share * 100.0);
        let line = format!("{} × {} ({percent:.0} %)", used.count, used.agent_id);
        screen.field("went to", line);
    }
    screen.line(Tone::Plain, "");
    let rows = metrics.agents.iter().map(|agent| {
        let rate = agent
            .success_rate
            .map(|rate| format!("{:.0} %", rate * 100.0));
        [
            strong(&agent.agent_id),
            plain(agent.execution_count),
            plain(time(agent.average_execution_time_ms)),
            plain(rate.unwrap_or_default()),
            dim(agent.last_used_at.as_deref().unwrap_or_default()),
        ]
    });
    let head = ["AGENT", "EXECUTIONS", "AVERAGE", "ANSWERED", "LAST USED"];
    screen.rows(&head, rows);
}
