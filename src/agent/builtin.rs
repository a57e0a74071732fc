//! The built-in agents, with the vocabulary of the multi-agent notes, section 1.4. Their texts have no stop
//! words, which would match every message.

use super::{Agent, Kind, Role, SUPERVISOR};

struct Builtin {
    id: &'static str,
    name: &'static str,
    description: &'static str,
    role: Role,
    prompt: &'static str,
    temperature: f64,
    max_tokens: u32,
    color: &'static str,
    icon: &'static str,
    tags: &'static [&'static str],
}

const BUILTINS: [Builtin; 4] = [
    Builtin {
        id: SUPERVISOR,
        name: "Cleo Supervisor",
        description: "Coordinates specialists",
        role: Role::Supervisor,
        prompt: "You coordinate specialist agents. From what they answered, write one final answer \
                 in the language of the user: concise, complete, and without anything that none of \
                 them said.",
        temperature: 0.7,
        max_tokens: 4_096,
        color: "#FF6B6B",
        icon: "crown",
        tags: &[],
    },
    Builtin {
        id: "toby-technical",
        name: "Toby",
        description: "Technical specialist: research, data analysis, history",
        role: Role::Specialist,
        prompt: "You are Toby, a technical specialist for research, data analysis, code and \
                 history. Answer precisely, name your sources and say what you do not know.",
        temperature: 0.3,
        max_tokens: 8_192,
        color: "#4ECDC4",
        icon: "wrench",
        tags: &[
            "technical",
            "history",
            "war",
            "second",
            "research",
            "data",
            "analysis",
            "code",
            "science",
        ],
    },
    Builtin {
        id: "ami-creative",
        name: "Ami",
        description: "Creative specialist: design, content, narrative",
        role: Role::Specialist,
        prompt: "You are Ami, a creative specialist for design, content and stories. Offer ideas \
                 that can be used at once, and say why each of them fits.",
        temperature: 0.9,
        max_tokens: 6_144,
        color: "#45B7D1",
        icon: "palette",
        tags: &[
            "creative", "design", "content", "layout", "blog", "art", "story", "writing",
        ],
    },
    Builtin {
        id: "peter-logical",
        name: "Peter",
        description: "Logical specialist: mathematics, structured problem solving",
        role: Role::Specialist,
        prompt: "You are Peter, a specialist for logic and mathematics. Work in numbered steps, \
                 check the result, and state it at the end.",
        temperature: 0.1,
        max_tokens: 8_192,
        color: "#96CEB4",
        icon: "calculator",
        tags: &[
            "logical",
            "logic",
            "mathematics",
            "math",
            "problem",
            "calculation",
            "calculate",
            "solve",
            "equation",
            "algebra",
            "steps",
            "proof",
        ],
    },
];

pub(crate) fn agents() -> Vec<Agent> {
    BUILTINS.iter().map(agent).collect()
}

pub(crate) fn is_builtin(id: &str) -> bool {
    BUILTINS.iter().any(|builtin| builtin.id == id)
}

fn agent(builtin: &Builtin) -> Agent {
    Agent {
        description: builtin.description.to_string(),
        role: builtin.role,
        prompt: builtin.prompt.to_string(),
        temperature: builtin.temperature,
        max_tokens: builtin.max_tokens,
        color: builtin.color.to_string(),
        icon: builtin.icon.to_string(),
        tags: builtin.tags.iter().map(|tag| tag.to_string()).collect(),
        ..Agent::new(builtin.id, Kind::Builtin, builtin.name)
    }
}
