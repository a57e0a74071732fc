//! Runs over tasks as they are wished.

use serde::Deserialize;

use super::detached::typed;
use crate::coordinator::plan::Refine;
use crate::error::{Code, Error, Result, steers};
use crate::id::TaskId;

/// Longest name of a program or a model, in characters.
const NAME_MAX: usize = 200;

/// A run as somebody wishes it; what is left out is as the settings say.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub(crate) struct Wish {
    /// These tasks; of an epic everything below it.
    pub(crate) tasks: Vec<TaskId>,
    /// Everything below this epic.
    pub(crate) epic: Option<TaskId>,
    /// Only this wave of it, from 0.
    pub(crate) wave: Option<u32>,
    /// Everything that is ready now.
    pub(crate) all_ready: bool,
    /// What drives the agents, perhaps with a model.
    pub(crate) runner: Option<String>,
    /// The model.
    pub(crate) model: Option<String>,
    /// Most agents at a time.
    pub(crate) jobs: Option<u16>,
    /// How often an agent is told what is missing.
    pub(crate) repair: Option<u32>,
    /// What all may cost, in US dollars.
    pub(crate) max_cost: Option<f64>,
    /// Most turns of an agent.
    pub(crate) max_turns: Option<u32>,
    /// How long all may take, in seconds.
    pub(crate) time_limit: Option<u64>,
    /// How long an agent may take, in seconds.
    pub(crate) task_time_limit: Option<u64>,
    /// How long an agent may be silent, in seconds.
    pub(crate) idle_limit: Option<u64>,
    /// Give each task a git worktree of its own.
    pub(crate) isolate: bool,
    /// Begin nothing more after a failure.
    pub(crate) fail_fast: bool,
    /// Only say what would be done.
    pub(crate) dry_run: bool,
}

impl Wish {
    /// Writes the words of the command that carries it out. What they mean is for that command to
    /// check; here it is made sure that each stays one word.
    pub(crate) fn words(&self) -> Result<Vec<String>> {
        let mut words = vec!["run".to_string()];
        let mut option = |name: &str, value: Option<String>| {
            words.extend(value.map(|value| format!("--{name}={value}")));
        };
        let seconds = |time: Option<u64>| time.map(|time| format!("{time}s"));
        option("epic", self.epic.map(|epic| epic.to_string()));
        option("wave", self.wave.map(|wave| wave.to_string()));
        option("runner", plain("runner", self.runner.as_deref())?);
        option("model", plain("model", self.model.as_deref())?);
        option("jobs", self.jobs.map(|jobs| jobs.to_string()));
        option("repair", self.repair.map(|repair| repair.to_string()));
        option("max-cost", self.max_cost.map(|cost| cost.to_string()));
        option("max-turns", self.max_turns.map(|turns| turns.to_string()));
        option("time-limit", seconds(self.time_limit));
        option("task-time-limit", seconds(self.task_time_limit));
        option("idle-limit", seconds(self.idle_limit));
        option("isolate", self.isolate.then(|| "worktree".to_string()));
        let flags = [
            (self.all_ready, "--all-ready"),
            (self.fail_fast, "--fail-fast"),
            (self.dry_run, "--dry-run"),
        ];
        words.extend(
            flags
                .iter()
                .filter(|(is_set, _)| *is_set)
                .map(|(_, flag)| flag.to_string()),
        );
        words.extend(self.tasks.iter().map(TaskId::to_string));
        Ok(words)
    }
}

fn plain(what: &str, name: Option<&str>) -> Result<Option<String>> {
    let Some(name) = name else { return Ok(None) };
    if !name.trim().is_empty() && name.chars().count() <= NAME_MAX && !name.contains(steers) {
        return Ok(Some(name.to_string()));
    }
    let message = format!("the {what} must be one line of at most {NAME_MAX} visible characters");
    Err(Error::new(Code::InputInvalid, message))
}

/// A plan, or a goal, as somebody wishes it carried out; what is left out is as `cleo plan run` has it.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub(crate) struct PlanWish {
    /// The text of the plan, JSON or YAML.
    pub(crate) text: Option<String>,
    /// A goal in place of a plan, in words: a plan is made of it by rule.
    pub(crate) goal: Option<String>,
    /// Most passes over the plan, until its last step says that the goal is reached.
    #[cfg_attr(feature = "schemas", schemars(range(min = 1, max = 100)))]
    pub(crate) max_loops: Option<u32>,
    /// What further passes do.
    pub(crate) refine: Option<Refine>,
    /// Most steps at a time.
    #[cfg_attr(feature = "schemas", schemars(range(min = 1, max = 256)))]
    pub(crate) jobs: Option<u16>,
}

impl PlanWish {
    pub(super) fn words(&self) -> Vec<String> {
        let options = [
            ("max-loops", self.max_loops.map(|passes| passes.to_string())),
            ("refine", self.refine.map(|way| way.to_string())),
            ("jobs", self.jobs.map(|jobs| jobs.to_string())),
        ];
        let mut words = ["plan", "run"].map(String::from).to_vec();
        for (name, value) in options {
            words.extend(value.map(|value| format!("--{name}={value}")));
        }
        words.push("-".to_string());
        words
    }

    /// Writes what somebody would type for the same: a goal is made a plan first, so that none is taken for
    /// the name of a file.
    pub(super) fn typed(&self) -> String {
        let run = typed(&self.words());
        let goal = match self.goal.as_deref() {
            // A dash alone is standard input; blanks around a goal do not count.
            Some("-") => " -",
            Some(goal) => goal,
            None => return run,
        };
        let made = typed(&["plan", "--json", "--", goal].map(String::from));
        format!("{made} | {run}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_value_becomes_an_option_of_its_own() {
        let wish = Wish {
            tasks: vec![TaskId(3)],
            runner: Some("--command=rm -rf /".into()),
            jobs: Some(2),
            time_limit: Some(90),
            fail_fast: true,
            ..Wish::default()
        };
        let expected = [
            "run",
            "--runner=--command=rm -rf /",
            "--jobs=2",
            "--time-limit=90s",
            "--fail-fast",
            "T3",
        ];
        assert_eq!(wish.words().unwrap(), expected);
        assert!(typed(&expected.map(String::from)).contains("'--runner=--command=rm -rf /'"));
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
            let wish = Wish {
                model: Some(name.into()),
                ..Wish::default()
            };
            assert_eq!(
                wish.words().unwrap_err().code,
                Code::InputInvalid,
                "{name:?}"
            );
        }
    }

    #[test]
    fn a_plan_is_read_and_a_goal_is_made_one_first() {
        let wish = PlanWish {
            max_loops: Some(3),
            refine: Some(Refine::LastStep),
            jobs: Some(2),
            ..PlanWish::default()
        };
        let expected = [
            "plan",
            "run",
            "--max-loops=3",
            "--refine=last-step",
            "--jobs=2",
            "-",
        ];
        assert_eq!(wish.words(), expected);
        assert_eq!(PlanWish::default().typed(), "cleo plan run -");
        for (goal, made) in [
            ("plan and report", "cleo plan --json -- 'plan and report'"),
            ("it's $(x)", r"cleo plan --json -- 'it'\''s $(x)'"),
            ("--llm", "cleo plan --json -- --llm"),
            ("check", "cleo plan --json -- check"),
            ("plan.yaml", "cleo plan --json -- plan.yaml"),
            ("-", "cleo plan --json -- ' -'"),
        ] {
            let wish = PlanWish {
                goal: Some(goal.to_string()),
                ..PlanWish::default()
            };
            assert_eq!(wish.typed(), format!("{made} | cleo plan run -"));
        }
    }
}
