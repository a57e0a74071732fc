//! The rules of dispatch as tables. `shipped` asks the skills that the program carries, `Made` a
//! catalogue made up for one rule.

mod labels;
mod reasons;
mod titles;
mod words;

use std::sync::LazyLock;

use serde_json::{Value, json};

use super::matrix::Manifest;
use super::*;
use crate::catalogue::{Catalogue, Places};
use crate::skill::Source;

/// Skills and rows of one test.
struct Made {
    skills: Vec<Skill>,
    matrix: Matrix,
}

impl Made {
    /// Makes skills of a name and lines for its metadata each; the default skill is always there.
    fn new(skills: &[(&str, &[&str])], matrix: impl ToString) -> Made {
        let mut made: Vec<Skill> = skills
            .iter()
            .map(|(name, lines)| skill(name, lines))
            .collect();
        if !made.iter().any(|skill| skill.name == skill::DEFAULT) {
            made.push(skill(skill::DEFAULT, &[]));
        }
        // As text, because the order of the rows counts.
        let manifest = format!("{{\"dispatch_matrix\":{}}}", matrix.to_string());
        let manifest: Manifest = serde_json::from_str(&manifest).unwrap();
        Made {
            matrix: Matrix::new(&manifest, &made),
            skills: made,
        }
    }

    fn ask(&self, task: Value) -> Decision {
        dispatch(&subject(task), &self.skills, &self.matrix, None).unwrap()
    }

    fn winner(&self, task: Value) -> String {
        self.ask(task).chosen.skill
    }
}

fn skill(name: &str, lines: &[&str]) -> Skill {
    let metadata: String = lines.iter().map(|line| format!("  {line}\n")).collect();
    let text =
        format!("---\nname: {name}\ndescription: x\nmetadata:\n  x: y\n{metadata}---\nBody\n");
    Skill::read(
        name,
        text.into(),
        Source::Project,
        format!("skills/{name}/SKILL.md"),
    )
    .unwrap()
}

fn subject(task: Value) -> Subject {
    serde_json::from_value(task).unwrap()
}

static SHIPPED: LazyLock<Catalogue> =
    LazyLock::new(|| Catalogue::load(&Places::default()).unwrap());

fn dispatch_shipped(task: Value) -> Decision {
    let Catalogue { skills, matrix, .. } = &*SHIPPED;
    dispatch(&subject(task), skills, matrix, None).unwrap()
}

fn check(task: Value, skill: &str, strategy: Strategy) {
    let decision = dispatch_shipped(task.clone());
    let found = (decision.chosen.skill.as_str(), decision.chosen.strategy);
    assert_eq!(found, (skill, strategy), "{task}");
}

#[test]
fn each_type_leads_to_its_skill() {
    for (kind, skill) in [
        ("research", "ct-research-agent"),
        ("planning", "ct-epic-architect"),
        ("implementation", "ct-task-executor"),
        ("testing", "ct-test-writer-bats"),
        ("documentation", "ct-documentor"),
        ("specification", "ct-spec-writer"),
        ("validation", "ct-validator"),
        ("bash-library", "ct-library-implementer-bash"),
        ("release", "ct-dev-workflow"),
        ("consensus", "ct-validator"),
        ("contribution", "ct-task-executor"),
        ("epic", "ct-epic-architect"),
        (" Epic ", "ct-epic-architect"),
    ] {
        let task = json!({"type": kind, "title": "Orchestrate the fleet"});
        check(task, skill, Strategy::Type);
    }
}

#[test]
fn task_subtask_and_unknown_types_fall_through_to_words() {
    for kind in ["task", "subtask", "Task", "", "chore", "spec"] {
        let task = json!({"type": kind, "title": "Verify the backup"});
        check(task, "ct-validator", Strategy::Keyword);
    }
    let rows = json!({"by_task_type": {"task": "one", "subtask": "one"}});
    let made = Made::new(&[("one", &["cleo-types: task"])], rows);
    for kind in ["task", "subtask"] {
        assert_eq!(made.winner(json!({"type": kind})), skill::DEFAULT, "{kind}");
    }
}

#[test]
fn label_beats_type_beats_keyword_beats_default() {
    let task = |labels: &[&str], kind: &str, title: &str| json!({"labels": labels, "type": kind, "title": title});
    check(
        task(&["audit"], "research", "Plan it"),
        "ct-validator",
        Strategy::Label,
    );
    check(
        task(&["x"], "research", "Plan it"),
        "ct-research-agent",
        Strategy::Type,
    );
    check(
        task(&["x"], "task", "Plan it"),
        "ct-epic-architect",
        Strategy::Keyword,
    );
    check(
        task(&["x"], "task", "Paint it"),
        "ct-task-executor",
        Strategy::Default,
    );
}

#[test]
fn missing_null_and_empty_fields_are_fine() {
    for task in [
        json!({}),
        json!({"id": null, "title": null, "description": null, "type": null, "labels": null}),
        json!({"id": "", "title": "", "description": "", "type": "", "labels": []}),
        json!({"labels": [""], "status": "pending", "priority": 3}),
    ] {
        check(task, "ct-task-executor", Strategy::Default);
    }
}

#[test]
fn disabled_skill_is_never_chosen() {
    let off = "cleo-status: inactive";
    let rows =
        json!({"by_task_type": {"k": "off"}, "by_keyword": {"word": "off", "word|more": "on"}});
    let made = Made::new(
        &[("off", &["cleo-tags: t", off]), ("on", &["cleo-tags: z,t"])],
        rows,
    );
    assert_eq!(made.winner(json!({"labels": ["t"]})), "on");
    assert_eq!(made.winner(json!({"type": "k"})), skill::DEFAULT);
    assert_eq!(made.winner(json!({"title": "a word"})), "on");
    let refused = dispatch(&Subject::default(), &made.skills, &made.matrix, Some("off"));
    assert_eq!(refused.unwrap_err().code, Code::SkillInactive);
}

#[test]
fn without_default_skill_only_what_nothing_fits_is_refused() {
    let skills: &[(&str, &[&str])] = &[
        ("one", &["cleo-tags: t"]),
        (skill::DEFAULT, &["cleo-status: inactive"]),
    ];
    let made = Made::new(skills, json!({}));
    assert_eq!(made.winner(json!({"labels": ["t"]})), "one");
    let refused = dispatch(&Subject::default(), &made.skills, &made.matrix, None);
    assert_eq!(refused.unwrap_err().code, Code::SkillInactive);
}

#[test]
fn skill_names_ignore_case_and_ct_prefix() {
    let made = Made::new(
        &[
            ("ct-one", &["cleo-tags: t"]),
            ("one", &[]),
            ("Ct-Two", &["cleo-tags: w"]),
        ],
        json!({}),
    );
    let task = subject(json!({"labels": ["t"], "type": "epic", "title": "Plan"}));
    for (name, skill) in [
        ("ct-one", "ct-one"),
        ("CT-ONE", "ct-one"),
        ("one", "one"), // its own name before another's short name
        ("ONE", "one"),
        ("task-executor", "ct-task-executor"),
        ("Task_Executor", "ct-task-executor"),
        ("two", "Ct-Two"), // a name that the standard refuses is still a name
        ("ct-two", "Ct-Two"),
    ] {
        let decision = dispatch(&task, &made.skills, &made.matrix, Some(name)).unwrap();
        let found = (decision.chosen.skill.as_str(), decision.chosen.strategy);
        assert_eq!(found, (skill, Strategy::Override), "{name}");
    }
    for (name, similar) in [
        ("ct-onne", Some("ct-one")),
        ("task-exekutor", Some("ct-task-executor")),
        ("zzz", None),
    ] {
        let error = dispatch(&task, &made.skills, &made.matrix, Some(name)).unwrap_err();
        assert_eq!(error.code, Code::SkillNotFound, "{name}");
        let meant = error.message.split_once("; did you mean ");
        let meant = meant.map(|(_, meant)| meant.trim_matches(['`', '?']));
        assert_eq!(meant, similar, "{name}");
    }
}

#[test]
fn unlisted_skill_adds_its_types_and_keywords_last() {
    let rows = json!({"by_task_type": {"k": "one"}, "by_keyword": {"paint": "one"}});
    let made = Made::new(
        &[
            ("one", &["cleo-keywords: sand"]),
            (
                "two",
                &["cleo-types: k,l", "cleo-keywords: paint,varnish,lib/x"],
            ),
        ],
        rows,
    );
    assert_eq!(
        made.winner(json!({"title": "paint"})),
        "one",
        "rows come first"
    );
    assert_eq!(made.winner(json!({"title": "varnished"})), "two");
    assert_eq!(made.winner(json!({"type": "k"})), "one");
    assert_eq!(made.winner(json!({"type": "l"})), "two");
    assert_eq!(
        made.winner(json!({"title": "sand"})),
        skill::DEFAULT,
        "its row speaks for it"
    );
}
