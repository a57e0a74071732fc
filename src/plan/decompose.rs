//! Makes a plan from a goal, rule-based: words map to skills, skills to capabilities, and available agents
//! form a chain of steps.

use serde::Serialize;

use super::message::spell_out;
use super::{DEFAULT, FALLBACK, Plan, SKILLS, Skill, Step, Unavailable};
use crate::agent::{Agent, AgentStatus};
use crate::score::Words;

/// Most words that are named as the reason for a skill.
const REASONS_MAX: usize = 5;

#[derive(Clone, Debug)]
pub(crate) struct Decomposed {
    pub(crate) plan: Plan,
    pub(crate) source: Source,
    /// The skills that were thought of, in the order of their steps.
    pub(crate) skills: Vec<Found>,
    pub(crate) warnings: Vec<String>,
}

impl Decomposed {
    /// Takes a plan over that was not made of skills.
    pub(crate) fn new(plan: Plan, source: Source) -> Decomposed {
        Decomposed {
            plan,
            source,
            skills: Vec::new(),
            warnings: Vec::new(),
        }
    }
}

/// Where the skills of a plan come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Source {
    /// Words of the goal.
    Words,
    /// No word of the goal asks for a skill: planning, search and summarization.
    Default,
    /// No agent has any of the skills: planning and summarization, by any agent.
    Fallback,
    Model,
    /// A command of the user.
    Command,
    /// Somebody who wrote it down.
    File,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub(crate) struct Found {
    pub(crate) skill: &'static str,
    pub(crate) capability: &'static str,
    /// The words of the goal that ask for it.
    pub(crate) words: Vec<String>,
    /// Ids of the active agents that offer it, the first of which gets the step.
    pub(crate) agents: Vec<String>,
    /// Whether the plan has a step for it.
    pub(crate) planned: bool,
}

/// Makes a plan from the capabilities of active agents. Deterministic; its steps form a chain.
pub(crate) fn decompose(goal: &str, agents: &[Agent]) -> Decomposed {
    let (mut source, mut skills) = find_wanted(goal, agents);
    if !skills.iter().any(|found| found.planned) {
        source = Source::Fallback;
        fall_back(&mut skills, agents);
    }
    let plan = Plan {
        goal: goal.to_string(),
        steps: chain_steps(goal, &skills),
        unavailable: list_left_out(&skills),
        ..Plan::default()
    };
    Decomposed {
        skills,
        ..Decomposed::new(plan, source)
    }
}

/// Returns the skills that a goal asks for, or else the default ones; those that are offered are
/// planned.
fn find_wanted(goal: &str, agents: &[Agent]) -> (Source, Vec<Found>) {
    let words = Words::parse(goal);
    let found = SKILLS.iter().map(|skill| {
        let reasons = matching_words(&words, skill);
        find_skill(skill, reasons, agents)
    });
    let mut all: Vec<Found> = found.collect();
    let asks = all.iter().any(|found| !found.words.is_empty());
    all.retain(|found| match asks {
        true => !found.words.is_empty(),
        false => DEFAULT.contains(&found.skill),
    });
    let source = if asks { Source::Words } else { Source::Default };
    (source, all)
}

fn matching_words(words: &Words, skill: &Skill) -> Vec<String> {
    let mut reasons: Vec<String> = Vec::new();
    for word in skill.words.iter().flat_map(|word| words.fitting(word)) {
        if reasons.len() < REASONS_MAX && !reasons.iter().any(|reason| reason == word) {
            reasons.push(word.to_string());
        }
    }
    reasons
}

fn find_skill(skill: &Skill, words: Vec<String>, agents: &[Agent]) -> Found {
    let offers =
        |agent: &&Agent| agent.status == AgentStatus::Active && agent.offers(skill.capability);
    let agents: Vec<String> = agents
        .iter()
        .filter(offers)
        .map(|agent| agent.id.clone())
        .collect();
    Found {
        skill: skill.name,
        capability: skill.capability,
        words,
        planned: !agents.is_empty(),
        agents,
    }
}

fn fall_back(skills: &mut Vec<Found>, agents: &[Agent]) {
    let all = SKILLS.iter().filter_map(|skill| {
        let asked = skills.iter().find(|found| found.skill == skill.name);
        let planned = FALLBACK.contains(&skill.name);
        let thought_of = asked
            .cloned()
            .or_else(|| planned.then(|| find_skill(skill, Vec::new(), agents)));
        thought_of.map(|found| Found { planned, ..found })
    });
    *skills = all.collect();
}

fn chain_steps(goal: &str, skills: &[Found]) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    for skill in SKILLS.iter() {
        if !skills
            .iter()
            .any(|found| found.planned && found.skill == skill.name)
        {
            continue;
        }
        let before = steps.last().map(|step| step.id.clone());
        steps.push(Step {
            id: format!("{}-step", skill.name),
            title: Some(skill.title.to_string()),
            agent_capability: Some(skill.capability.to_string()),
            skill: Some(skill.name.to_string()),
            instruction: format!("{}\n\nGoal:\n{}", skill.instruction, spell_out(goal)),
            dependencies: before.into_iter().collect(),
            ..Step::default()
        });
    }
    steps
}

fn list_left_out(skills: &[Found]) -> Vec<Unavailable> {
    let left_out = skills.iter().filter(|found| !found.planned);
    left_out
        .map(|found| Unavailable {
            skill: found.skill.to_string(),
            capability: found.capability.to_string(),
            reason: format!("no active agent offers `{}`", found.capability),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::Kind;
    use crate::plan::check;
    use proptest::prelude::*;

    fn offering(capabilities: &[&str]) -> Vec<Agent> {
        let agent = |capability: &&str| Agent {
            capability: Some(capability.to_string()),
            ..Agent::new(&format!("the-{capability}"), Kind::Persistent, capability)
        };
        capabilities.iter().map(agent).collect()
    }

    fn steps(goal: &str, capabilities: &[&str]) -> String {
        let plan = decompose(goal, &offering(capabilities)).plan;
        let names = plan.steps.iter().map(|step| {
            let needs = step.dependencies.join("+");
            format!("{}<{needs}", step.id.trim_end_matches("-step"))
        });
        names.collect::<Vec<_>>().join(" ").replace("-step", "")
    }

    const THREE: &[&str] = &["planner", "web-crawler", "summarizer"];
    const ALL: &[&str] = &[
        "summarizer",
        "orchestrator",
        "classifier",
        "sql-agent",
        "ie-agent",
        "web-crawler",
        "planner",
    ];

    #[test]
    fn goals_become_chains_of_offered_skills() {
        let chain = "planning< search<planning summarization<search";
        for (goal, capabilities, expected) in [
            (
                "Plan, search the web, and report a summary about NER in finance.",
                THREE,
                chain,
            ),
            ("plan, then search, then summarize", THREE, chain),
            ("do work", THREE, chain),
            ("Explain our partner's energy plant", ALL, chain),
            ("do work", &[], "planning< summarization<planning"),
            ("do work", &["Summarizer "], "summarization<"),
            ("query the database", &["sql-agent"], "sql<"),
            (
                "summarize",
                &["sql-agent"],
                "planning< summarization<planning",
            ),
            ("use a tool", &["orchestrator"], "tool-use<"),
            (
                "plan search extract entities classify sql summarize tool",
                ALL,
                "planning< search<planning ner<search sql<ner classification<sql \
                 tool-use<classification summarization<tool-use",
            ),
        ] {
            assert_eq!(steps(goal, capabilities), expected, "{goal}");
        }
    }

    #[test]
    fn only_whole_words_in_listed_forms_ask_for_skill() {
        for (skill, fits, misses) in [
            (
                "planning",
                "plan plans PLANNED planning decompose décompose",
                "plant explanation planet airplane planed",
            ),
            (
                "search",
                "search searches searching crawl crawler Web",
                "research website cobweb",
            ),
            ("ner", "NER", "partner owner generate energy general ners"),
            (
                "classification",
                "classify classification classifier label labelled",
                "unclassified declassify relabel",
            ),
            ("sql", "SQL database databases", "mysql data sqlite"),
            (
                "summarization",
                "summary summarize summaries report reporting",
                "sum reappoint",
            ),
            ("tool-use", "tool tools", "toolbox tooling stool"),
        ] {
            let asked = |word: &str| {
                let skills = find_wanted(word, &[]).1;
                skills
                    .iter()
                    .any(|f| f.skill == skill && !f.words.is_empty())
            };
            for word in fits.split(' ') {
                assert!(asked(word), "{word} asks for {skill}");
            }
            for word in misses.split(' ') {
                assert!(!asked(word), "{word} does not ask for {skill}");
            }
        }
        let found = find_wanted("Extract the entities", &[]).1;
        assert!(found.iter().all(|found| found.skill != "ner"));
    }

    #[test]
    fn plan_says_what_chose_each_skill() {
        let agents = [offering(&["planner"]), offering(&["Planner"])].concat();
        let made = decompose("Plan it, search the web, search again", &agents);
        assert_eq!(made.source, Source::Words);
        assert_eq!(made.skills[0].agents, ["the-planner", "the-Planner"]);
        assert_eq!(made.skills[1].words, ["search", "web"]);
        assert!(made.skills[0].planned && !made.skills[1].planned);
        assert_eq!(made.plan.unavailable.len(), 1);
        assert_eq!(
            made.plan.unavailable[0].reason,
            "no active agent offers `web-crawler`"
        );
        let none = decompose("Classify it", &agents[..0]);
        assert_eq!(none.source, Source::Fallback);
        let planned: Vec<_> = none.skills.iter().map(|f| (f.skill, f.planned)).collect();
        let expected = [
            ("planning", true),
            ("classification", false),
            ("summarization", true),
        ];
        assert_eq!(planned, expected);
    }

    #[test]
    fn inactive_agents_offer_nothing() {
        let mut agents = offering(&["planner"]);
        agents[0].status = AgentStatus::Paused;
        assert_eq!(decompose("plan", &agents).source, Source::Fallback);
    }

    fn goals() -> impl Strategy<Value = String> {
        let word = prop::sample::select(vec![
            "plan",
            "search",
            "ner",
            "sql",
            "label",
            "tool",
            "report",
            "[done]",
            "[DONE]",
            "\n",
            "x",
            "\"",
            "extract entities",
            "ß",
            "{{GOAL}}",
        ]);
        prop::collection::vec(word, 0..12).prop_map(|words| format!("g {}", words.join(" ")))
    }

    proptest! {
        #![proptest_config(crate::tests::cases(64))]

        #[test]
        fn every_plan_passes_own_check(
            goal in prop_oneof![goals(), "[a-z]\\PC{0,80}"],
            offered in prop::sample::subsequence(ALL.to_vec(), 0..=ALL.len()),
        ) {
            let agents = offering(&offered);
            let made = decompose(&goal, &agents);
            prop_assert!(!made.plan.steps.is_empty());
            prop_assert_eq!(check::faults(&made.plan), []);
            let n_waves = made.plan.waves().len();
            prop_assert_eq!(n_waves, made.plan.steps.len(), "a chain has as many waves as steps");
            let written = serde_json::to_vec(&made.plan).unwrap();
            prop_assert_eq!(crate::plan::read(&written), (made.plan.clone(), vec![]));
            let written = serde_yaml::to_string(&made.plan).unwrap();
            prop_assert_eq!(crate::plan::read(written.as_bytes()), (made.plan.clone(), vec![]));
            for step in &made.plan.steps {
                let marker = step.instruction.to_ascii_lowercase().contains("[done]");
                prop_assert!(!marker, "{}", step.instruction);
                let missing = check::find_agent(step, &agents).is_err();
                prop_assert_eq!(missing, made.source == Source::Fallback && !offered.iter().any(
                    |capability| Some(*capability) == step.agent_capability.as_deref()));
            }
        }
    }
}
