//! Cost of routing messages in process: prints rows of the table in docs/performance.md. The agents
//! have names, objectives, descriptions and tags of a vocabulary in which, as in any language, few
//! words are in many texts and many words in few. Five words are in every one.

use std::hint::black_box;
use std::sync::Arc;

use crate::agent::{Agent, Kind, builtin};
use crate::route::{Index, Match, Message, Request};

/// Different words of all agents.
const VOCABULARY: u64 = 30_000;

/// Words in every description.
const EVERYBODY: &str = "expert with knowledge about the";

/// Numbers that are the same in every run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, most: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % most
    }

    /// A word; the first ones are much more frequent than the last ones.
    fn word(&mut self) -> String {
        let part = self.below(1 << 20) as f64 / f64::from(1 << 20);
        let number = (VOCABULARY as f64).powf(part) as u64;
        let letters =
            (0..5).map(|at| char::from(b'a' + ((number * 7 + 3) / 26_u64.pow(at) % 26) as u8));
        let mut word: String = letters.collect();
        word += &number.to_string();
        word
    }

    fn words(&mut self, count: usize) -> String {
        let words: Vec<String> = (0..count).map(|_| self.word()).collect();
        words.join(" ")
    }
}

fn agents(count: usize, dice: &mut Dice) -> Vec<Agent> {
    let agent = |number: usize| Agent {
        objective: dice.words(8),
        description: format!("{EVERYBODY} {}", dice.words(10)),
        tags: vec![dice.word(), dice.word(), dice.word(), dice.words(2)],
        ..Agent::new(&format!("agent-{number}"), Kind::Persistent, "Some Name")
    };
    (0..count).map(agent).collect()
}

/// Runs `work` in rounds and prints the median and what nine of ten stay below, in microseconds of
/// CPU time.
fn row<T>(
    cpu: fn() -> f64,
    name: &str,
    goal: &str,
    rounds: usize,
    mut work: impl FnMut(usize) -> T,
) {
    let time = |round| {
        let start = cpu();
        let made = work(round);
        let time = cpu() - start;
        drop(made);
        time
    };
    let mut times: Vec<f64> = (0..rounds).map(time).collect();
    times.sort_by(f64::total_cmp);
    println!(
        "| {name} | {:.1} | {:.1} | {goal} |",
        times[rounds / 2],
        times[rounds * 9 / 10]
    );
}

fn route(cpu: fn() -> f64, name: &str, goal: &str, index: &Index, messages: &[String], by: Match) {
    let rounds = if by == Match::Token { 1_000 } else { 30 };
    row(cpu, name, goal, rounds, |round| {
        let message = Message::parse(&messages[round % messages.len()]);
        let request = Request {
            by,
            ..Request::new(&message)
        };
        black_box(index.route(&request));
    });
}

/// Prints the rows.
pub fn print(cpu: fn() -> f64) {
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    println!("| in process | median CPU µs | 9 of 10 below | goal |");
    println!("|---|---|---|---|");
    let messages: Vec<String> = (0..200)
        .map(|_| format!("Tell me {} {}", EVERYBODY, dice.words(8)))
        .collect();
    let built_in = Index::new(builtin::agents());
    let blog = ["Help me design a creative layout for my blog.".to_string()];
    route(
        cpu,
        "a message over the 4 built-in agents",
        "",
        &built_in,
        &blog,
        Match::Token,
    );
    let thousand = agents(1_000, &mut dice);
    let index = Index::new(thousand);
    route(
        cpu,
        "a message over 1,000 agents",
        "100",
        &index,
        &messages,
        Match::Token,
    );
    let many: Vec<Arc<Agent>> = agents(10_000, &mut dice)
        .into_iter()
        .map(Arc::new)
        .collect();
    row(
        cpu,
        "building the index of 10,000 agents",
        "100,000",
        3,
        |_| {
            black_box(Index::new(many.iter().cloned()));
        },
    );
    let index = Index::new(many.iter().cloned());
    let name = "a message over 10,000 agents";
    route(cpu, name, "1,000", &index, &messages, Match::Token);
    let frequent: String = (1..60).map(|_| dice.word() + " ").collect();
    let name = "a message of 60 words over them";
    route(
        cpu,
        name,
        "",
        &index,
        &[format!("{EVERYBODY} {frequent}")],
        Match::Token,
    );
    let name = "a message by `--substring` over them";
    route(cpu, name, "", &index, &messages, Match::Substring);
    worst(cpu, &mut dice);
}

/// Every agent has every word of a long message, and no word is long enough in few.
fn worst(cpu: fn() -> f64, dice: &mut Dice) {
    let words: Vec<String> = (0..1_000).map(|number| format!("word{number}")).collect();
    let mut half = |number: usize| Agent {
        description: words
            .iter()
            .filter(|_| dice.below(9) == 0)
            .cloned()
            .collect::<Vec<_>>()
            .join(" "),
        ..Agent::new(&format!("agent-{number}"), Kind::Persistent, "")
    };
    let agents: Vec<Agent> = (0..10_000).map(&mut half).collect();
    let index = Index::new(agents);
    let name = "a message of 1,000 words, each in a ninth of 10,000 agents";
    route(cpu, name, "", &index, &[words.join(" ")], Match::Token);
}
