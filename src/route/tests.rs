//! The rule, as examples with their scores and as a naive scorer that the index must equal.

use std::collections::BTreeSet;

use proptest::prelude::*;
use proptest::sample::select;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use super::{Decided, Index, Match, Message, Request, *};
use crate::agent::{Agent, AgentStatus, Kind, Role, builtin};

fn agent(id: &str, tags: &[&str]) -> Agent {
    let mut agent = Agent::new(id, Kind::Runtime, "");
    agent.tags = tags.iter().map(|tag| tag.to_string()).collect();
    agent
}

/// The runtime agent of the notes.
fn lore() -> Agent {
    Agent {
        name: "Lore keeper".to_string(),
        description: "Azeroth expert".to_string(),
        role: Role::Specialist,
        ..agent("custom_1", &["warcraft", "wow", "lore", "second war"])
    }
}

fn index(agents: &[Agent]) -> Index {
    Index::new(agents.to_vec())
}

fn route(index: &Index, message: &str, by: Match) -> (String, u32) {
    let message = Message::parse(message);
    let request = Request {
        by,
        ..Request::new(&message)
    };
    let decision = index.route(&request);
    (decision.agent.to_string(), decision.score)
}

#[test]
fn examples_of_spec_have_their_scores() {
    let built_in = index(&builtin::agents());
    let with_lore = index(&[builtin::agents(), vec![lore()]].concat());
    let (token, substring) = (Match::Token, Match::Substring);
    let history = "Explain the Second War in Warcraft history.";
    let blog = "Help me design a creative layout for my blog.";
    let sum = "Solve 2x + 5 = 15 and explain the steps.";
    let weather = "What is the weather today?";
    for (index, message, by, agent, score) in [
        (&built_in, history, token, "toby-technical", 9),
        (&built_in, history, substring, "toby-technical", 9),
        (&built_in, blog, token, "ami-creative", 12),
        (&built_in, blog, substring, "ami-creative", 12),
        (&built_in, sum, token, "peter-logical", 6),
        (&built_in, sum, substring, "peter-logical", 7),
        (
            &built_in,
            "Explain the Second War in Warcraft.",
            token,
            "toby-technical",
            6,
        ),
        (
            &with_lore,
            "Explain the Second War in Warcraft.",
            token,
            "custom_1",
            7,
        ),
        (&with_lore, "Second War in Warcraft", token, "custom_1", 7),
        (
            &with_lore,
            "Explain the Second War in Warcraft.",
            substring,
            "custom_1",
            7,
        ),
        (&built_in, weather, token, "finalize", 0),
        (&built_in, weather, substring, "peter-logical", 1),
        (
            &built_in,
            "Help me with math homework",
            token,
            "peter-logical",
            3,
        ),
        (&built_in, "zzzz qqqq", token, "finalize", 0),
        (&built_in, "2 + 2 = ?", token, "finalize", 0),
    ] {
        let found = route(index, message, by);
        assert_eq!(found, (agent.to_string(), score), "{message} {by:?}");
    }
}

#[test]
fn tags_count_as_rule_says() {
    for (tags, message, score) in [
        (&["war"][..], "War and war again", 3),
        (&["war", "War"], "the war", 5),
        (&["Diseño"], "diseno", 3),
        (&[" war "], "war", 3),
        (&["second war"], "the second  WAR!", 4),
        (&["second war"], "war second", 2),
        (&["second war"], "second great war", 2),
        (&["second-war", "second_war"], "second war", 6),
        (&["ai agents"], "my ai agents", 3),
        (&["c++"], "c++ code", 0),
        (&["code!"], "code", 1),
        (&["ai"], "ai", 0),
        (&["end to end"], "an end-to-end test", 3),
        (&["a b a"], "a b a b a", 0),
        (&["a b a"], "a b a b a now", 2),
        (&["do it"], "Do it!", 0),
        (&["do it"], "do it then", 2),
        (&["日本語"], "日本語", 4),
        (&["история"], "ИСТОРИЯ!", 3),
        (&["लड़का"], "लड़का", 3),
        (&["लड़का"], "लड़की", 0),
        (&["लड़का"], "एक लड\u{93c}का!", 3),
        (&["バス停"], "バス停", 4),
        (&["バス停"], "ハス停", 1),
        (&["ハ\u{3099}ス停"], "バス停", 4),
        (&["Café"], "cafe", 3),
        (&["cafe"], "CAFE\u{301}", 3),
        (&[""], "war", 0),
    ] {
        let found = route(&index(&[agent("x", tags)]), message, Match::Token);
        assert_eq!(found.1, score, "{tags:?} {message}");
    }
}

fn ask<'a>(index: &'a Index, message: &'a Message, agent: &'a str) -> super::Decision<'a> {
    index.route(&Request {
        agent: Some(agent),
        ..Request::new(message)
    })
}

#[test]
fn agent_that_is_asked_for_is_taken_when_it_can_be_had() {
    let mut agents = builtin::agents();
    let mut paused = agent("paused", &["layout", "design"]);
    paused.status = AgentStatus::Paused;
    agents.extend([paused, agent("other", &[])]);
    let index = index(&agents);
    let message = Message::parse("Help me design a layout");
    for (wish, agent, decided, reason) in [
        (
            "peter-logical",
            "peter-logical",
            Decided::Requested,
            "peter-logical was requested; its score is 0",
        ),
        (
            "other",
            "other",
            Decided::Requested,
            "other was requested; its score is 0",
        ),
        (
            "cleo-supervisor",
            "ami-creative",
            Decided::Matched,
            "Best match with score 6",
        ),
        (
            "paused",
            "ami-creative",
            Decided::Matched,
            "Best match with score 6; the requested agent `paused` was not available (paused)",
        ),
        (
            "nobody",
            "ami-creative",
            Decided::Matched,
            "Best match with score 6; the requested agent `nobody` was not available (unknown)",
        ),
    ] {
        let decision = ask(&index, &message, wish);
        assert_eq!(
            (decision.agent, decision.decided),
            (agent, decided),
            "{wish}"
        );
        assert_eq!(decision.reason, reason);
    }
    let blank = Message::parse("?");
    assert_eq!(ask(&index, &blank, "other").agent, "other");
    let nobody = ask(&index, &blank, "nobody");
    assert_eq!(nobody.agent, "finalize");
    assert!(
        nobody
            .reason
            .ends_with("`nobody` was not available (unknown)")
    );
}

#[test]
fn words_that_say_nothing_decide_nothing() {
    let described = |id: &str, description: &str| Agent {
        description: description.to_string(),
        ..agent(id, &[])
    };
    let agents = [
        described("docs", "Writes docs and explains the test for you"),
        described("sql", "Tunes queries"),
        agent("tester", &["test"]),
    ];
    for (message, chosen, score) in [
        ("and the test for you", "tester", 3),
        ("and you", "finalize", 2),
        ("and you, the queries?", "sql", 1),
        ("explain docs", "docs", 1),
    ] {
        let found = route(&index(&agents), message, Match::Token);
        assert_eq!(found, (chosen.to_string(), score), "{message}");
    }
    let message = Message::parse("and you");
    let index = index(&agents);
    let reason = index.route(&Request::new(&message)).reason;
    let expected = "No suitable agent found (best score: 2): the words that match say nothing";
    assert_eq!(reason, expected);
}

#[test]
fn scripts_without_spaces_match_inside_text() {
    let zh = Agent {
        description: "负责软件测试和质量".to_string(),
        ..agent("zh", &["测试", "质量管理"])
    };
    let agents = [zh, agent("ja", &["テスト"]), agent("th", &["ค้นหา"])];
    for (message, chosen, score) in [
        ("请帮我测试一下", "zh", 3),
        ("软件的质量管理", "zh", 6),
        ("日本語のテスト", "ja", 4),
        ("ช่วยค้นหาข้อความ", "th", 5),
        ("中文", "finalize", 0),
    ] {
        let found = route(&index(&agents), message, Match::Token);
        assert_eq!(found, (chosen.to_string(), score), "{message}");
    }
}

#[test]
fn only_active_agents_take_part() {
    let mut agents = builtin::agents();
    let message = "Explain the Second War in Warcraft history.";
    for (status, winner) in [
        (AgentStatus::Paused, "finalize"),
        (AgentStatus::Active, "toby-technical"),
        (AgentStatus::Archived, "finalize"),
    ] {
        agents[1].status = status;
        let index = index(&agents);
        assert_eq!(route(&index, message, Match::Token).0, winner);
    }
    assert_eq!(index(&agents).candidates(), 2);
}

#[test]
fn ties_go_to_first_of_list_and_are_said() {
    let agents = [agent("one", &["alpha"]), agent("two", &["beta"])];
    let index = index(&agents);
    let message = Message::parse("alpha beta");
    let decision = index.route(&Request::new(&message));
    assert_eq!(decision.agent, "one");
    assert_eq!(
        decision.reason,
        "Best match with score 3 (the first of 2 agents with this score)"
    );
    assert_eq!(decision.margin, Some(0));
    assert_eq!(decision.runner_up.map(|second| second.id), Some("two"));
}

/// The rule, written down from its text and without any index.
struct Naive {
    agents: Vec<Agent>,
}

fn plain(text: &str) -> String {
    let decomposed: String = text.to_lowercase().nfd().collect();
    decomposed
        .chars()
        .filter(|c| !(0x300..=0x36f).contains(&u32::from(*c)))
        .collect()
}

/// Of scripts without spaces, the words here have kana and Chinese characters.
fn is_unspaced(c: char) -> bool {
    ('ぁ'..='ヿ').contains(&c) || ('㐀'..='鿿').contains(&c)
}

fn split(plain: &str) -> Vec<String> {
    let runs = plain.split(|c: char| !c.is_alphanumeric() && !is_combining_mark(c));
    let words = runs.map(|run| run.trim_start_matches(|c: char| !c.is_alphanumeric()));
    let mut all = Vec::new();
    for word in words.filter(|word| !word.is_empty()) {
        let mut letters: Vec<String> = Vec::new();
        for c in word.chars() {
            match letters.last_mut().filter(|_| is_combining_mark(c)) {
                Some(letter) => letter.push(c),
                None => letters.push(c.to_string()),
            }
        }
        for run in letters.chunk_by(|a, b| a.starts_with(is_unspaced) == b.starts_with(is_unspaced))
        {
            match run[0].starts_with(is_unspaced) && run.len() > 1 {
                true => all.extend(run.windows(2).map(|pair| pair.concat())),
                false => all.push(run.concat()),
            }
        }
    }
    all
}

fn is_long(word: &str) -> bool {
    word.chars().count() >= if word.starts_with(is_unspaced) { 2 } else { 3 }
}

impl Naive {
    /// Returns the points of each agent, and whether they may decide.
    fn scores(&self, message: &str, by: Match) -> Vec<(String, u32, u32, bool)> {
        let message = plain(message);
        let words = split(&message);
        let terms: BTreeSet<&String> = words.iter().filter(|word| is_long(word)).collect();
        let fits =
            |agent: &&Agent| agent.status == AgentStatus::Active && agent.role != Role::Supervisor;
        let score = |agent: &Agent| {
            let texts = [&agent.objective, &agent.name, &agent.description].map(String::as_str);
            let tags = agent.tags.join(" ");
            let text = plain(&format!("{} {tags}", texts.join(" ")));
            let own = split(&text);
            let fits = |own: &String, term: &String| match by {
                Match::Token => own == term,
                Match::Substring => own.contains(term),
            };
            let has = |term: &&&String| own.iter().any(|own| fits(own, term));
            let base = terms.iter().filter(has).count() as u32;
            let mut says = own.iter().filter(|own| *own != "the");
            let may_decide = says.any(|own| terms.iter().any(|term| fits(own, term)));
            let hit = |tag: &&String| {
                let tag = plain(tag);
                let parts = split(&tag);
                let one = terms.contains(&tag.trim().to_string()) && parts.len() == 1;
                let several = !terms.is_empty() && parts.len() > 1;
                one || (several && words.windows(parts.len()).any(|run| run == parts))
            };
            let boost = 2 * agent.tags.iter().filter(hit).count() as u32;
            (base, boost, may_decide || boost > 0)
        };
        let fitting = self.agents.iter().filter(fits);
        fitting
            .map(|agent| {
                let (base, boost, may_decide) = score(agent);
                (agent.id.clone(), base, boost, may_decide)
            })
            .collect()
    }
}

const WORDS: &[&str] = &[
    "war",
    "Second",
    "second",
    "the",
    "a",
    "ai",
    "design",
    "Diseño",
    "diseno\u{303}",
    "ИСТОРИЯ",
    "история",
    "日本語",
    "日本",
    "한국",
    "İstanbul",
    "istanbul",
    "straße",
    "STRASSE",
    "ΟΔΟΣ",
    "οδός",
    "c++",
    "x_y",
    "end-to-end",
    "ﬁne",
    "fine",
    "\u{301}war",
    "e\u{301}te",
    "Été",
    "42",
    "2x",
    "warcraft",
    "Ⅷ",
    "१२३",
    "लड़का",
    "लड़की",
    "バス停",
    "ハス停",
    "\u{93c}war",
    "war\u{20d7}",
    "👍",
    "ǆep",
    "Ǆep",
    "\u{200d}war",
];

fn text(most: usize) -> impl Strategy<Value = String> {
    let gap = select(&[" ", "  ", "-", "_", ", ", "\u{a0}", "\n", "' "][..]);
    prop::collection::vec((select(WORDS), gap), 0..most).prop_map(|words| {
        words
            .iter()
            .map(|(word, gap)| format!("{word}{gap}"))
            .collect()
    })
}

fn any_agent() -> impl Strategy<Value = Agent> {
    let tag = prop_oneof![
        text(4),
        select(WORDS).prop_map(str::to_string),
        select(&["second war", " war ", "war!", "the second-war", "a ai", ""][..])
            .prop_map(str::to_string),
    ];
    let role = select(
        &[
            Role::Specialist,
            Role::Custom,
            Role::Custom,
            Role::Supervisor,
        ][..],
    );
    let status = select(
        &[
            AgentStatus::Active,
            AgentStatus::Active,
            AgentStatus::Paused,
        ][..],
    );
    let texts = (text(3), text(5), text(3));
    (
        0..12_u32,
        texts,
        prop::collection::vec(tag, 0..5),
        role,
        status,
    )
        .prop_map(
            |(id, (name, description, objective), tags, role, status)| Agent {
                name,
                description,
                objective,
                tags,
                role,
                status,
                ..Agent::new(&format!("a{id}"), Kind::Runtime, "")
            },
        )
}

/// Compares every part of a decision with the rule.
fn compare(
    index: &Index,
    naive: &Naive,
    text: &str,
    by: Match,
) -> std::result::Result<(), TestCaseError> {
    let message = Message::parse(text);
    let request = Request {
        by,
        explain: Some(usize::MAX),
        ..Request::new(&message)
    };
    let decision = index.route(&request);
    let scores = naive.scores(text, by);
    let mut best: Option<(&str, u32)> = None;
    for (id, base, boost, may_decide) in &scores {
        let score = base + boost;
        if *may_decide && score > best.map_or(0, |best| best.1) {
            best = Some((id, score));
        }
    }
    let most = scores.iter().map(|one| one.1 + one.2).max();
    let expected = best.unwrap_or(("finalize", most.unwrap_or(0)));
    prop_assert_eq!((decision.agent, decision.score), expected);
    let mut ranked: Vec<_> = scores.iter().collect();
    ranked.sort_by_key(|(_, base, boost, _)| std::cmp::Reverse(base + boost));
    let others = ranked.iter().filter(|one| one.3 && one.0 != expected.0);
    let second = others.map(|one| one.0.as_str()).next();
    let ranked: Vec<_> = ranked
        .iter()
        .map(|one| (one.0.clone(), one.1, one.2))
        .collect();
    let candidates = decision.candidates.unwrap();
    let parts: Vec<_> = candidates
        .iter()
        .map(|one| (one.id.to_string(), one.base, one.tag_boost))
        .collect();
    prop_assert_eq!(parts, ranked);
    for one in &candidates {
        prop_assert_eq!(one.score, one.base + one.tag_boost);
        prop_assert_eq!(one.base as usize, one.matched_terms.len());
        prop_assert_eq!(one.tag_boost as usize, 2 * one.matched_tags.len());
    }
    prop_assert_eq!(decision.runner_up.map(|one| one.id), second);
    Ok(())
}

proptest! {
    #![proptest_config(crate::tests::cases(100))]

    #[test]
    fn index_answers_as_plain_rule(
        agents in prop::collection::vec(any_agent(), 0..12),
        messages in prop::collection::vec(prop_oneof![
            9 => text(12),
            1 => select(&["a ai", "A, ai; 2x"][..]).prop_map(str::to_string),
        ], 1..4),
    ) {
        let mut ids = BTreeSet::new();
        let agents = agents.into_iter().filter(|agent| ids.insert(agent.id.clone()));
        let agents: Vec<Agent> = agents.collect();
        let (index, naive) = (index(&agents), Naive { agents });
        for message in &messages {
            compare(&index, &naive, message, Match::Token)?;
            compare(&index, &naive, message, Match::Substring)?;
            let mut of_message = Index::of_message(&Message::parse(message));
            let agents = naive.agents.iter().cloned();
            agents.for_each(|agent| of_message.push(agent.into()));
            compare(&of_message, &naive, message, Match::Token)?;
        }
    }
}

#[test]
fn words_that_count_are_distinct() {
    for (text, expected) in [
        (
            "Explain the Second War, the SECOND one",
            "explain the second war one",
        ),
        ("Solve 2x + 5 = 15", "solve"),
        ("snake_case-word", "snake case word"),
        ("Diseño diseno", "diseno"),
        ("日本 日本語", "日本 本語"),
        ("!?", ""),
    ] {
        let message = Message::parse(text);
        let found: Vec<_> = message.terms().collect();
        assert_eq!(found.join(" "), expected, "{text}");
    }
}

#[test]
fn lines_are_messages_or_objects() {
    for (line, text, agent) in [
        ("plain words\r", "plain words", None),
        ("\"quoted\"", "\"quoted\"", None),
        ("[1]", "[1]", None),
        (r#" {"message":"m","agent":"a","x":1}"#, "m", Some("a")),
        (
            r#"{"input":"m","agentId":"a","metadata":{"requested_agent_id":"b"}}"#,
            "m",
            Some("a"),
        ),
        (
            r#"{"input":"m","metadata":{"requested_agent_id":"b"}}"#,
            "m",
            Some("b"),
        ),
        (
            r#"{"input":"m","context":{"requested_agent_id":"c"},"metadata":{}}"#,
            "m",
            Some("c"),
        ),
        (r#"{"message":"m","agent":" ","metadata":null}"#, "m", None),
        (
            r#"{"message":"m","agentId":" ","context":{"requested_agent_id":"c"}}"#,
            "m",
            Some("c"),
        ),
    ] {
        let query = Query::parse(line.as_bytes()).unwrap();
        assert_eq!(
            (&*query.text, query.agent.as_deref()),
            (text, agent),
            "{line}"
        );
    }
}

#[test]
fn what_is_no_message_is_refused() {
    let long = "x".repeat(MESSAGE_MAX + 1);
    for (line, word) in [
        ("", "is empty"),
        ("  \t", "is empty"),
        (r#"{"message":" "}"#, "is empty"),
        ("{}", "is missing"),
        (r#"{"message":null}"#, "is missing"),
        (r#"{"message":7}"#, "column 12: invalid type"),
        (r#"{"message":"x""#, "column 14: EOF"),
        (r#"{"message":"x"} y"#, "column 17: trailing"),
        (&long, "1048577 bytes"),
    ] {
        let error = Query::parse(line.as_bytes()).unwrap_err();
        assert!(error.message.contains(word), "{}", error.message);
        assert_eq!(error.code, Code::InputInvalid);
    }
    assert!(Query::parse(b"caf\xe9").is_err());
    assert!(Query::parse(&long.as_bytes()[1..]).is_ok());
}
