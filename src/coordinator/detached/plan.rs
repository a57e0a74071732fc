//! Plans as they are wished.

use serde::Deserialize;

use crate::coordinator::plan::Refine;

/// A plan, or a goal, as somebody wishes it carried out; what is left out is as `cleo plan run` has it.
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct PlanWish {
    /// The text of the plan, JSON or YAML.
    pub text: Option<String>,
    /// A goal in place of a plan, in words: a plan is made of it by rule.
    pub goal: Option<String>,
    /// Most passes over the plan, until its last step says that the goal is reached.
    #[cfg_attr(test, schemars(range(min = 1, max = 100)))]
    pub max_loops: Option<u32>,
    /// What further passes do.
    pub refine: Option<Refine>,
    /// Most steps at a time.
    #[cfg_attr(test, schemars(range(min = 1, max = 256)))]
    pub jobs: Option<u16>,
}

impl PlanWish {
    /// Writes the words of the command that carries it out. `what` is a goal, or `-` for a plan that the
    /// command reads.
    pub(super) fn words(&self, what: &str) -> Vec<String> {
        let options = [
            ("max-loops", self.max_loops.map(|passes| passes.to_string())),
            ("refine", self.refine.map(|way| way.to_string())),
            ("jobs", self.jobs.map(|jobs| jobs.to_string())),
        ];
        let mut words = ["plan", "run"].map(String::from).to_vec();
        for (name, value) in options {
            words.extend(value.map(|value| format!("--{name}={value}")));
        }
        if what.starts_with('-') && what != "-" {
            words.push("--".to_string());
        }
        words.push(what.to_string());
        words
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::coordinator::detached::typed;

    #[test]
    fn a_plan_is_read_and_a_goal_is_one_word() {
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
        assert_eq!(wish.words("-"), expected);
        let plain = PlanWish::default();
        for (goal, command) in [
            ("plan and report", "cleo plan run 'plan and report'"),
            ("it's $(x)", r"cleo plan run 'it'\''s $(x)'"),
            ("--llm", "cleo plan run -- --llm"),
        ] {
            assert_eq!(typed(&plain.words(goal)), command);
        }
    }
}
