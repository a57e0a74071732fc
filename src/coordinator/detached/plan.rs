//! Plans as they are wished.

use serde::Deserialize;

use super::typed;
use crate::coordinator::plan::Refine;

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
