//! Requests to run tasks and plans.

use clap::{Args, ValueEnum};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::detached::format_command;
use crate::config::parse_seconds;
use crate::coordinator::plan::Refine;
use crate::error::{Code, Error, Result, is_visible_line};
use crate::id::TaskId;
use crate::plan::LOOPS_MAX;
use crate::plan::message::max_loops;

/// Longest name of a program or a model, in characters.
const NAME_MAX: usize = 200;

// A run over tasks, as a command and a request ask for it; what is left out is as the settings say. A doc comment would
// become the help of the command.
#[derive(Args, Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[schemars(transform = crate::task::schema::require_one("oneOf", serde_json::json!({
        "tasks": {"minItems": 1}, "epic": {"type": "string"}, "allReady": {"const": true},
    })))]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub(crate) struct RunRequest {
    /// Tasks to run; an epic means all tasks below it
    #[arg(value_name = "TASK", required_unless_present_any = ["epic", "all_ready", "plan"])]
    pub(crate) tasks: Vec<TaskId>,

    /// Run all tasks below this epic
    #[arg(long, value_name = "TASK", conflicts_with_all = ["tasks", "all_ready"])]
    pub(crate) epic: Option<TaskId>,

    /// Only this wave of the epic in `orchestrator waves`; 0 is the ready tasks
    #[arg(long, value_name = "NUMBER", requires = "epic")]
    pub(crate) wave: Option<u32>,

    /// Run all ready tasks
    #[arg(long, conflicts_with = "tasks")]
    pub(crate) all_ready: bool,

    /// Agent program: claude, codex, gemini, opencode, copilot or command, with an optional model
    /// as in claude:MODEL [default: the settings runners.bySkill, runners.byTier, runners.default]
    #[arg(long, value_name = "NAME")]
    #[schemars(transform = crate::task::schema::visible(NAME_MAX))]
    pub(crate) runner: Option<String>,

    /// Agent command; {prompt_file}, {output_file} and {cwd} are replaced by paths. It is split
    /// into words like a shell does, but run without a shell
    #[arg(long, value_name = "COMMAND")]
    #[serde(skip)]
    pub(crate) command: Option<String>,

    /// Model for the runner
    #[arg(long, value_name = "NAME")]
    #[schemars(transform = crate::task::schema::visible(NAME_MAX))]
    pub(crate) model: Option<String>,

    /// Maximum number of agents at a time [default: the setting run.jobs, 4]
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1_000))]
    #[schemars(range(min = 1, max = 1_000))]
    pub(crate) jobs: Option<u16>,

    /// Maximum number of repair attempts per task [default: the setting run.repair, 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=10))]
    #[schemars(range(max = 10))]
    pub(crate) repair: Option<u32>,

    /// Start no more tasks once the agents cost this much, in US dollars. An attempt in progress,
    /// or that reports no cost, counts as the most expensive one of the run, or as an equal share
    /// while no cost is known. The first attempt runs alone
    #[arg(long, value_name = "USD", allow_negative_numbers = true, value_parser = price)]
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub(crate) max_cost: Option<f64>,

    /// Maximum turns of an agent, if its program counts them
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    #[schemars(range(min = 1))]
    pub(crate) max_turns: Option<u32>,

    /// Time limit of the run, in seconds or as 90s, 10m, 2h
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    #[schemars(range(min = 1, max = 2_592_000))]
    pub(crate) time_limit: Option<u64>,

    /// Time limit of an agent, in seconds or as 10m [default: the setting run.taskTimeLimit, 1h]
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    #[schemars(range(min = 1, max = 2_592_000))]
    pub(crate) task_time_limit: Option<u64>,

    /// Maximum time without output of an agent, in seconds or as 10m [default: the setting
    /// run.idleLimit, 15m]
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    #[schemars(range(min = 1, max = 2_592_000))]
    pub(crate) idle_limit: Option<u64>,

    /// Run each task in its own git worktree and branch. Verified work is merged into the current
    /// branch, one task at a time; a branch with conflicts is kept
    #[arg(long, value_name = "HOW")]
    pub(crate) isolate: Option<Isolation>,

    /// Start no more tasks after a failure; running tasks continue
    #[arg(long)]
    pub(crate) fail_fast: bool,

    /// Tool that agents may use without asking, in place of the defaults of their runner: Bash,
    /// Edit, Read, WebFetch, WebSearch, Write
    #[arg(long, value_name = "TOOL")]
    #[serde(skip)]
    pub(crate) allow_tool: Vec<String>,

    /// Environment variable to pass to agents, by name
    #[arg(long, value_name = "NAME")]
    #[serde(skip)]
    pub(crate) pass_env: Vec<String>,

    /// Show what would run, and run nothing
    #[arg(long, short = 'n')]
    pub(crate) dry_run: bool,
}

/// How tasks are kept apart.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ValueEnum, schemars::JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Isolation {
    /// Git worktrees
    Worktree,
}

/// Reads a time in seconds.
pub(super) fn duration(text: &str) -> std::result::Result<u64, String> {
    let time = parse_seconds(text.trim()).filter(|time| (1..=30 * 86_400).contains(time));
    time.ok_or_else(|| format!("`{text}` is not a time such as 90s, 10m or 2h, up to 30d"))
}

pub(super) fn price(text: &str) -> std::result::Result<f64, String> {
    let price: Option<f64> = text.trim().parse().ok();
    let price = price.filter(|price| price.is_finite() && *price > 0.0);
    price.ok_or_else(|| format!("`{text}` is not an amount of US dollars above 0, such as 2.50"))
}

impl RunRequest {
    /// Writes the words of the command that carries it out. Their meaning is for that command to
    /// check; here it is made sure that each stays one word.
    pub(crate) fn words(&self) -> Result<Vec<String>> {
        check_name("runner", self.runner.as_deref())?;
        check_name("model", self.model.as_deref())?;
        let words = ["run".to_string()].into_iter().chain(options(self)?);
        Ok(words
            .chain(self.tasks.iter().map(TaskId::to_string))
            .collect())
    }
}

/// Writes the fields of a request as options of a command line.
fn options(request: &impl Serialize) -> Result<Vec<String>> {
    let fields = serde_json::to_value(request).map_err(|cause| {
        Error::new(Code::Internal, "the request cannot be written").because(cause)
    })?;
    let option = |(field, value): (&String, &Value)| {
        let mut name = String::from("--");
        for letter in field.chars() {
            if letter.is_ascii_uppercase() {
                name.push('-');
            }
            name.push(letter.to_ascii_lowercase());
        }
        match value {
            Value::Bool(true) => Some(name),
            Value::String(text) => Some(format!("{name}={text}")),
            Value::Number(number) => Some(format!("{name}={number}")),
            _ => None,
        }
    };
    let fields = fields.as_object().into_iter().flatten();
    Ok(fields.filter_map(option).collect())
}

fn check_name(what: &str, name: Option<&str>) -> Result<()> {
    if name.is_none_or(|name| is_visible_line(name, NAME_MAX)) {
        return Ok(());
    }
    let message = format!("the {what} must be one line of at most {NAME_MAX} visible characters");
    Err(Error::new(Code::InputInvalid, message))
}

// A doc comment would become the help of the command.
#[derive(
    Args, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema,
)]
#[schemars(
        description = "A plan, or a goal, that is to be carried out; what is left out has its default.",
        transform = crate::task::schema::require_one("oneOf", serde_json::json!({"text": {"type": "string"}, "goal": {"type": "string"}}))
    )]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub(crate) struct PlanRequest {
    /// The text of the plan, JSON or YAML.
    #[arg(skip)]
    #[serde(skip_serializing)]
    pub(crate) text: Option<String>,
    /// A goal in place of a plan, in words: a plan is made of it by rule.
    #[arg(skip)]
    #[serde(skip_serializing)]
    #[schemars(transform = crate::task::schema::long_note(crate::plan::GOAL_MAX))]
    pub(crate) goal: Option<String>,
    /// Maximum number of passes over the plan until its last step reports success.
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = parse_passes, help = PASSES)]
    #[schemars(range(min = 1, max = 100))]
    pub(crate) max_loops: Option<u32>,
    /// The part that later passes repeat.
    #[arg(long, value_name = "PART", default_value = "plan", help = REFINE)]
    pub(crate) refine: Option<Refine>,
    /// Maximum number of steps at a time.
    #[arg(long, value_name = "N", default_value = "4", value_parser = clap::value_parser!(u16).range(1..=256))]
    #[schemars(range(min = 1, max = 256))]
    pub(crate) jobs: Option<u16>,
}

const PASSES: &str = "Maximum number of passes, up to 100, until the last step reports success; an invalid number means 1";
const REFINE: &str =
    "Scope of later passes: the whole plan (plan) or only the last step (last-step)";

fn parse_passes(wish: &str) -> std::result::Result<u32, String> {
    let number: Option<f64> = wish.trim().parse().ok();
    match number {
        Some(number) if number > f64::from(LOOPS_MAX) => {
            Err(format!("there are at most {LOOPS_MAX} passes"))
        }
        _ => Ok(max_loops(Some(wish))),
    }
}

impl PlanRequest {
    pub(crate) fn words(&self) -> Result<Vec<String>> {
        let words = ["plan", "run"].map(String::from).into_iter();
        let words = words.chain(options(self)?);
        Ok(words.chain(["-".to_string()]).collect())
    }

    /// Writes what somebody would type for the same: a goal is made a plan first, so that none is taken for
    /// the name of a file.
    pub(crate) fn format_command(&self, words: &[String]) -> String {
        let run = format_command(words);
        let goal = match self.goal.as_deref() {
            // A dash alone is standard input; blanks around a goal do not count.
            Some("-") => " -",
            Some(goal) => goal,
            None => return run,
        };
        let made = format_command(&["plan", "--json", "--", goal].map(String::from));
        format!("{made} | {run}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_value_becomes_option_of_own() {
        let request = RunRequest {
            tasks: vec![TaskId(3)],
            runner: Some("--command=rm -rf /".into()),
            jobs: Some(2),
            time_limit: Some(90),
            fail_fast: true,
            ..RunRequest::default()
        };
        let expected = [
            "run",
            "--fail-fast",
            "--jobs=2",
            "--runner=--command=rm -rf /",
            "--time-limit=90",
            "T3",
        ];
        assert_eq!(request.words().unwrap(), expected);
        assert!(
            format_command(&expected.map(String::from)).contains("'--runner=--command=rm -rf /'")
        );
    }

    #[test]
    fn names_are_one_line_and_short() {
        for name in [
            "",
            " ",
            "a\nb",
            "a\0b",
            "\u{1b}[31m",
            &"x".repeat(NAME_MAX + 1),
        ] {
            let request = RunRequest {
                model: Some(name.into()),
                ..RunRequest::default()
            };
            assert_eq!(
                request.words().unwrap_err().code,
                Code::InputInvalid,
                "{name:?}"
            );
        }
    }

    #[test]
    fn plan_is_read_and_goal_is_made_one_first() {
        let request = PlanRequest {
            max_loops: Some(3),
            refine: Some(Refine::LastStep),
            jobs: Some(2),
            ..PlanRequest::default()
        };
        let expected = [
            "plan",
            "run",
            "--jobs=2",
            "--max-loops=3",
            "--refine=last-step",
            "-",
        ];
        assert_eq!(request.words().unwrap(), expected);
        let words = PlanRequest::default().words().unwrap();
        assert_eq!(
            PlanRequest::default().format_command(&words),
            "cleo plan run -"
        );
        for (goal, made) in [
            ("plan and report", "cleo plan --json -- 'plan and report'"),
            ("it's $(x)", r"cleo plan --json -- 'it'\''s $(x)'"),
            ("--llm", "cleo plan --json -- --llm"),
            ("check", "cleo plan --json -- check"),
            ("plan.yaml", "cleo plan --json -- plan.yaml"),
            ("-", "cleo plan --json -- ' -'"),
        ] {
            let request = PlanRequest {
                goal: Some(goal.to_string()),
                ..PlanRequest::default()
            };
            assert_eq!(
                request.format_command(&words),
                format!("{made} | cleo plan run -")
            );
        }
    }
}
