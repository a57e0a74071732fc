//! Titles of tasks as they occur in real projects, each with the skill that a person expects, written before the
//! rules: `tests/data/dispatch_titles.tsv` has the part, the language, the skill and the title. Rules are made
//! without looking at the part that is held back.

use serde_json::json;

use super::*;

const TITLES: &str = include_str!("../../../tests/data/dispatch_titles.tsv");

/// Counts the titles of a part, and those that reach their skill.
fn count(part: &str) -> (usize, usize) {
    let (mut all, mut right) = (0, 0);
    for line in TITLES.lines() {
        let columns: Vec<&str> = line.split('\t').collect();
        let [own, _, skill, title] = columns[..] else {
            panic!("{line}")
        };
        if own == part {
            all += 1;
            let decision = dispatch_shipped(json!({"title": title}));
            let is_right = decision.chosen.skill == skill;
            assert!(
                is_right || decision.warning.is_some(),
                "{title} goes to {}",
                decision.chosen.skill
            );
            right += usize::from(is_right);
        }
    }
    (all, right)
}

#[test]
fn real_titles_reach_their_skill() {
    for (part, all, least) in [
        ("open", 140, 137),
        ("held back", 60, 58),
        ("from outside", 22, 22),
        ("from outside, alike", 40, 39),
        ("from outside, third", 40, 40),
    ] {
        let found = count(part);
        assert_eq!(found.0, all, "{part}");
        assert!(found.1 >= least, "{part}: {} of {all} are right", found.1);
    }
}
