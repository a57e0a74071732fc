//! What the checks of spawned tasks have found over time. Everything here is counted, nothing is
//! weighed.

use std::collections::{BTreeMap, HashMap, HashSet};

use chrono::{Datelike, NaiveDate};
use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::id::TaskId;
use crate::ops::Context;
use crate::store::{Recorded, Transaction, Verification};

/// What checks are counted by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Grouping {
    /// The skill in the prompt.
    Skill,
    /// The program that a run had work on it, as in `claude:MODEL`, else who held the task, else the kind of
    /// agent that the entry names, else who had it checked.
    Agent,
}

/// How long a period of the trend is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Trend {
    /// A day in UTC.
    Day,
    /// A week by ISO 8601, from Monday.
    Week,
}

/// Checks, counted.
#[derive(Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct History {
    /// What they are counted by.
    pub by: Grouping,
    /// The moment from which on they count, RFC 3339 in UTC.
    pub since: Option<String>,
    /// One for each skill or agent, by name.
    pub groups: Vec<Group>,
    /// How many groups there are.
    pub total: usize,
}

/// The checks of one skill or agent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Group {
    /// Its name.
    pub name: String,
    /// All of them.
    #[serde(flatten)]
    pub counts: Counts,
    /// How many checks broke each rule.
    pub violations: BTreeMap<String, usize>,
    /// The same counts by period, the oldest first; periods without a check are left out.
    pub trend: Vec<Period>,
}

/// Checks of a period.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Period {
    /// The day, `2026-01-26`, or the week, `2026-W05`.
    pub period: String,
    /// Its checks.
    #[serde(flatten)]
    pub counts: Counts,
}

/// How many checks there were.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Counts {
    /// All checks.
    pub checks: usize,
    /// Those in which nothing was wrong.
    pub passed: usize,
    /// Those that were the first of their spawn.
    pub first_tries: usize,
    /// Those of the first in which nothing was wrong.
    pub first_tries_passed: usize,
}

impl Counts {
    fn add(&mut self, check: &Verification, is_first: bool) {
        self.checks += 1;
        self.passed += usize::from(check.passed);
        self.first_tries += usize::from(is_first);
        self.first_tries_passed += usize::from(is_first && check.passed);
    }
}

/// Counts the checks since a moment, RFC 3339 in UTC.
pub fn history(
    context: &mut Context,
    by: Grouping,
    since: Option<String>,
    trend: Trend,
) -> Result<History> {
    let (checks, tries) = context.read(|transaction| {
        let checks = transaction.verifications()?;
        let tries = tries(transaction, &checks)?;
        Ok((checks, tries))
    })?;
    let groups = counted(&checks, &tries, by, since.as_deref(), trend);
    Ok(History {
        by,
        since,
        total: groups.len(),
        groups,
    })
}

/// The beginning of the work on a task from the start, which its repairs belong to.
struct Try {
    /// When, RFC 3339 in UTC.
    at: String,
    /// The epoch of the claim, and how many prompts were handed out before while nobody held the task.
    place: (u64, u64),
}

type Tries = HashMap<TaskId, Vec<Try>>;

/// Reads the tries of the tasks that were checked more than once, from what is recorded of them.
fn tries(transaction: &dyn Transaction, checks: &[Verification]) -> Result<Tries> {
    let mut seen = HashSet::new();
    let again = checks.iter().map(|check| check.task);
    let again: HashSet<TaskId> = again.filter(|task| !seen.insert(*task)).collect();
    let mut tries = Tries::new();
    for task in again {
        let changes = transaction.changes(0, Some(task), u32::MAX)?;
        tries.insert(task, begun(&changes));
    }
    Ok(tries)
}

/// Finds the tries among what is recorded of a task. A repair may get a prompt with an entry of its own,
/// and a new claim may get the prompt of the one before: so each claim is a try, and a prompt is one only
/// while nobody holds the task.
fn begun(changes: &[Recorded]) -> Vec<Try> {
    let (mut place, mut is_held) = ((0, 0), false);
    let mut begun = Vec::new();
    for Recorded { at, change, .. } in changes {
        match change.kind.as_str() {
            "claimed" => {
                is_held = true;
                place.0 = change.detail["epoch"].as_u64().unwrap_or_default();
            }
            "spawned" if !is_held => place.1 += 1,
            "released" | "expired" => {
                is_held = false;
                continue;
            }
            _ => continue,
        }
        let at = at.clone();
        begun.push(Try { at, place });
    }
    begun
}

/// Says which try a check belongs to: by its entry where nothing else is known of the task.
fn try_of<'a>(tries: &Tries, check: &'a Verification) -> (TaskId, (u64, u64), &'a str) {
    let mut begun = tries.get(&check.task).into_iter().flatten().rev();
    match begun.find(|one| one.at <= check.at) {
        Some(last) => (check.task, last.place, ""),
        None => (check.task, (0, 0), check.manifest_id.as_str()),
    }
}

fn counted(
    checks: &[Verification],
    tries: &Tries,
    by: Grouping,
    since: Option<&str>,
    trend: Trend,
) -> Vec<Group> {
    let mut groups: BTreeMap<&str, (Group, BTreeMap<String, Counts>)> = BTreeMap::new();
    let mut seen = HashSet::new();
    for check in checks {
        // A first try before the window is no first try within it.
        let is_first = seen.insert(try_of(tries, check));
        if since.is_some_and(|since| check.at.as_str() < since) {
            continue;
        }
        let name = match by {
            Grouping::Skill => &check.skill,
            Grouping::Agent => &check.agent,
        };
        let (group, periods) = groups.entry(name).or_default();
        group.counts.add(check, is_first);
        for rule in &check.violations {
            *group.violations.entry(rule.clone()).or_default() += 1;
        }
        let period = periods.entry(period(&check.at, trend)).or_default();
        period.add(check, is_first);
    }
    let named = groups.into_iter().map(|(name, (group, periods))| Group {
        name: name.to_string(),
        trend: periods
            .into_iter()
            .map(|(period, counts)| Period { period, counts })
            .collect(),
        ..group
    });
    named.collect()
}

/// Names the period that a moment lies in.
fn period(at: &str, trend: Trend) -> String {
    let day = at.get(..10).unwrap_or(at);
    let date = NaiveDate::parse_from_str(day, "%Y-%m-%d");
    match (trend, date) {
        (Trend::Week, Ok(date)) => {
            let week = date.iso_week();
            format!("{:04}-W{:02}", week.year(), week.week())
        }
        _ => day.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Change;

    fn check(task: u32, at: &str, skill: &str, broken: &[&str]) -> Verification {
        Verification {
            task: TaskId(task),
            manifest_id: format!("t{task}"),
            at: format!("{at}T09:00:00.000Z"),
            by: "tester".into(),
            skill: skill.into(),
            agent: "coder".into(),
            passed: broken.is_empty(),
            violations: broken.iter().map(|rule| rule.to_string()).collect(),
        }
    }

    fn checks() -> Vec<Verification> {
        vec![
            check(1, "2026-01-25", "a", &["OUT-001", "OUT-002"]),
            check(1, "2026-01-26", "a", &[]),
            check(2, "2026-01-26", "a", &[]),
            check(3, "2026-02-01", "b", &["OUT-001"]),
        ]
    }

    fn groups(by: Grouping, since: Option<&str>, trend: Trend) -> Vec<Group> {
        counted(&checks(), &Tries::new(), by, since, trend)
    }

    fn counts(group: &Group) -> [usize; 4] {
        let it = group.counts;
        [it.checks, it.passed, it.first_tries, it.first_tries_passed]
    }

    #[test]
    fn checks_are_counted_by_skill_with_first_tries_apart() {
        let groups = groups(Grouping::Skill, None, Trend::Day);
        assert_eq!(
            (groups[0].name.as_str(), counts(&groups[0])),
            ("a", [3, 2, 2, 1])
        );
        assert_eq!(
            (groups[1].name.as_str(), counts(&groups[1])),
            ("b", [1, 0, 1, 0])
        );
        assert_eq!(groups[0].violations["OUT-002"], 1);
        let days: Vec<&str> = groups[0]
            .trend
            .iter()
            .map(|it| it.period.as_str())
            .collect();
        assert_eq!(days, ["2026-01-25", "2026-01-26"]);
    }

    #[test]
    fn a_try_begins_with_a_claim_or_with_a_prompt_of_a_task_that_nobody_holds() {
        let steps = [
            ("spawned", 0),
            ("claimed", 1),
            ("changed", 0),
            ("spawned", 0),
            ("released", 1),
            ("spawned", 0),
            ("claimed", 2),
            ("expired", 2),
            ("claimed", 3),
        ];
        let changes = steps
            .iter()
            .zip(1..)
            .map(|((kind, epoch), cursor)| Recorded {
                cursor,
                operation: cursor,
                at: format!("2026-01-26T09:00:00.{cursor:03}Z"),
                by: "tester".into(),
                command: "run".into(),
                change: Change {
                    kind: kind.to_string(),
                    task: Some(TaskId(1)),
                    detail: serde_json::json!({"epoch": epoch}),
                },
            });
        let begun = begun(&changes.collect::<Vec<_>>());
        let places: Vec<(u64, u64)> = begun.iter().map(|one| one.place).collect();
        assert_eq!(places, [(0, 1), (1, 1), (1, 2), (2, 2), (3, 2)]);
        let tries = Tries::from([(TaskId(1), begun)]);
        let place = |at: &str| {
            let at = format!("2026-01-26T09:00:00.{at}Z");
            let check = Verification {
                at,
                ..check(1, "2026-01-26", "a", &[])
            };
            let (_, place, entry) = try_of(&tries, &check);
            (place, entry.to_string())
        };
        assert_eq!(place("000"), ((0, 0), "t1".to_string()));
        assert_eq!(place("004"), ((1, 1), String::new()));
        assert_eq!(place("010"), ((3, 2), String::new()));
    }

    #[test]
    fn a_try_after_a_first_one_before_the_window_is_no_first_one() {
        let since = Some("2026-01-26T00:00:00.000Z");
        let groups = groups(Grouping::Agent, since, Trend::Week);
        assert_eq!(
            (groups[0].name.as_str(), counts(&groups[0])),
            ("coder", [3, 2, 2, 1])
        );
        let weeks: Vec<&str> = groups[0]
            .trend
            .iter()
            .map(|it| it.period.as_str())
            .collect();
        assert_eq!(weeks, ["2026-W05"]);
        assert_eq!(
            groups[0].violations,
            BTreeMap::from([("OUT-001".to_string(), 1)])
        );
    }
}
