//! The built-in agents, with the vocabulary of the multi-agent notes, section 1.4. Their texts have no stop
//! words, which would match every message.

use super::{Agent, Kind, Role, SUPERVISOR};

const IDS: [&str; 4] = [
    SUPERVISOR,
    "toby-technical",
    "ami-creative",
    "peter-logical",
];

pub(crate) fn is_builtin(id: &str) -> bool {
    IDS.contains(&id)
}

pub(crate) fn agents() -> Vec<Agent> {
    let [supervisor, toby, ami, peter] = IDS;
    let tags = |words: &str| words.split(' ').map(str::to_string).collect();
    let specialist = |id, name| Agent {
        role: Role::Specialist,
        ..Agent::new(id, Kind::Builtin, name)
    };
    vec![
        Agent {
            description: "Coordinates specialists".into(),
            role: Role::Supervisor,
            prompt: "You coordinate specialist agents. From what they answered, write one final answer in the \
                     language of the user: concise, complete, and without anything that none of them said."
                .into(),
            max_tokens: 4_096,
            color: "#FF6B6B".into(),
            icon: "crown".into(),
            ..Agent::new(supervisor, Kind::Builtin, "Cleo Supervisor")
        },
        Agent {
            description: "Technical specialist: research, data analysis, history".into(),
            prompt: "You are Toby, a technical specialist for research, data analysis, code and history. Answer \
                     precisely, name your sources and say what you do not know."
                .into(),
            temperature: 0.3,
            max_tokens: 8_192,
            color: "#4ECDC4".into(),
            icon: "wrench".into(),
            tags: tags("technical history war second research data analysis code science"),
            ..specialist(toby, "Toby")
        },
        Agent {
            description: "Creative specialist: design, content, narrative".into(),
            prompt: "You are Ami, a creative specialist for design, content and stories. Offer ideas that can be \
                     used at once, and say why each of them fits."
                .into(),
            temperature: 0.9,
            max_tokens: 6_144,
            color: "#45B7D1".into(),
            icon: "palette".into(),
            tags: tags("creative design content layout blog art story writing"),
            ..specialist(ami, "Ami")
        },
        Agent {
            description: "Logical specialist: mathematics, structured problem solving".into(),
            prompt: "You are Peter, a specialist for logic and mathematics. Work in numbered steps, check the \
                     result, and state it at the end."
                .into(),
            temperature: 0.1,
            max_tokens: 8_192,
            color: "#96CEB4".into(),
            icon: "calculator".into(),
            tags: tags(
                "logical logic mathematics math problem calculation calculate solve equation algebra steps proof",
            ),
            ..specialist(peter, "Peter")
        },
    ]
}
