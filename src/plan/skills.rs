//! The table of skills: which words of a goal ask for one, what an agent must offer for it, and what
//! that agent is told. Coordinator notes, section 3.1.

/// A skill that a goal can ask for.
pub(super) struct Skill {
    /// Its name.
    pub(super) name: &'static str,
    /// What an agent must offer.
    pub(super) capability: &'static str,
    /// Patterns of words that ask for it; see [`crate::score::Words::fitting`].
    pub(super) words: &'static [&'static str],
    /// What its step is about, for people.
    pub(super) title: &'static str,
    /// What the agent is told, before the goal.
    pub(super) instruction: &'static str,
}

/// All skills, in the order in which their steps follow one another.
pub(super) const SKILLS: [Skill; 7] = [
    Skill {
        name: "planning",
        capability: "planner",
        words: &[
            "plan",
            "plans",
            "planned",
            "planning",
            "decompose",
            "decomposes",
            "decomposed",
            "decomposing",
        ],
        title: "Plan the work",
        instruction: "Break the goal below into a few steps. Say of each what it has to find out \
                      or produce and which others it needs first. Do not carry them out.",
    },
    Skill {
        name: "search",
        capability: "web-crawler",
        words: &["search*", "crawl*", "web"],
        title: "Find what is needed",
        instruction: "Find what is needed to reach the goal below. Use sources that can be \
                      trusted, name each of them, and keep what they say apart from what you \
                      conclude.",
    },
    Skill {
        name: "ner",
        capability: "ie-agent",
        words: &["ner", "extract* entities"],
        title: "List the entities",
        instruction: "List the entities that matter for the goal below: people, organizations, \
                      places, dates and amounts. Say of each where it stands.",
    },
    Skill {
        name: "sql",
        capability: "sql-agent",
        words: &["sql", "database*"],
        title: "Ask the database",
        instruction: "Get from the database what the goal below asks for. Only read. Give each \
                      query together with what it returned.",
    },
    Skill {
        name: "classification",
        capability: "classifier",
        words: &["classif*", "label*"],
        title: "Sort what was found",
        instruction: "Sort what is at hand into the classes that the goal below names, or into \
                      few that serve it. Give the reason for each.",
    },
    Skill {
        name: "tool-use",
        capability: "orchestrator",
        words: &["tool", "tools"],
        title: "Use tools",
        instruction: "Do with your tools what the goal below asks for. Say of each tool why you \
                      used it and what it returned.",
    },
    Skill {
        name: "summarization",
        capability: "summarizer",
        words: &["summar*", "report*"],
        title: "Write the final answer",
        instruction: "Write the final answer to the goal below out of the results of the steps \
                      before: short, complete, and without anything that they do not say. If it \
                      reaches the goal, end with the word done in square brackets.",
    },
];

/// Skills for a goal that asks for none.
pub(super) const DEFAULT: [&str; 3] = ["planning", "search", "summarization"];

/// Skills for a goal for which nobody offers what it asks for.
pub(super) const FALLBACK: [&str; 2] = ["planning", "summarization"];
