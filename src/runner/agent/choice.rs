//! The runner of a task: that of the command line, else that of the settings for its skill, for the tier of its
//! skill, or for all. Pure.

use crate::error::{Code, Error, Result};

pub(crate) const NAMES: [&str; 6] = [
    "claude", "codex", "gemini", "opencode", "copilot", "command",
];

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Named {
    pub(crate) runner: String,
    /// The model; none for the one that its program prefers.
    pub(crate) model: Option<String>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Rules {
    pub(crate) skills: Vec<(String, Named)>,
    pub(crate) tiers: Vec<(String, Named)>,
    pub(crate) all: Option<Named>,
}

/// Chooses the runner of a task with a skill of a tier; `flag` is what the command line says.
pub(crate) fn choose(
    rules: &Rules,
    flag: Option<&Named>,
    skill: &str,
    tier: Option<u8>,
) -> Option<Named> {
    let tier = tier.map(|tier| tier.to_string());
    let of = |rules: &[(String, Named)], name: &str| {
        let rule = rules.iter().find(|(key, _)| key == name);
        rule.map(|(_, named)| named.clone())
    };
    flag.cloned()
        .or_else(|| of(&rules.skills, skill))
        .or_else(|| of(&rules.tiers, &tier?))
        .or_else(|| rules.all.clone())
}

/// Reads `claude` or `claude:MODEL`.
pub(crate) fn read(text: &str) -> Result<Named> {
    let (runner, model) = match text.trim().split_once(':') {
        Some((runner, model)) => (runner, Some(model.trim())),
        None => (text.trim(), None),
    };
    let is_model = |model: &&str| !model.is_empty() && !model.contains(char::is_whitespace);
    if !NAMES.contains(&runner) {
        return Err(refuse_runner(runner));
    }
    if model.is_some_and(|model| !is_model(&model)) {
        let message = format!("`{text}` names no model after the colon");
        return Err(Error::new(Code::InputInvalid, message));
    }
    Ok(Named {
        runner: runner.to_string(),
        model: model.map(String::from),
    })
}

/// Reads `KEY=RUNNER, KEY=RUNNER:MODEL`.
pub(crate) fn read_rules(text: &str) -> Result<Vec<(String, Named)>> {
    let rules = parse_pairs(text)?.into_iter();
    rules.map(|(key, named)| Ok((key, read(&named)?))).collect()
}

pub(super) fn parse_pairs(text: &str) -> Result<Vec<(String, String)>> {
    let parts = text.split(',').map(str::trim);
    let parts = parts.filter(|part| !part.is_empty());
    let pair = |part: &str| {
        let pair = part.split_once('=');
        let pair = pair.map(|(key, value)| (key.trim().to_string(), value.trim().to_string()));
        pair.filter(|(key, value)| !key.is_empty() && !value.is_empty())
            .ok_or_else(|| error!(InputInvalid, "`{part}` is not of the form KEY=VALUE"))
    };
    parts.map(pair).collect()
}

pub(super) fn refuse_runner(name: &str) -> Error {
    let known = NAMES.join(", ");
    let message = format!("there is no runner `{name}`; runners are {known}");
    Error::new(Code::InputInvalid, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules() -> Rules {
        Rules {
            skills: read_rules("ct-docs=gemini, ct-spec=claude:opus").unwrap(),
            tiers: read_rules("1=claude:haiku,2=codex").unwrap(),
            all: Some(read("copilot").unwrap()),
        }
    }

    #[test]
    fn most_specific_rule_wins() {
        let flag = read("opencode:a/b:c").unwrap();
        for (flag, skill, tier, runner) in [
            (Some(&flag), "ct-docs", Some(1), "opencode"),
            (None, "ct-docs", Some(1), "gemini"),
            (None, "ct-other", Some(1), "claude"),
            (None, "ct-other", Some(3), "copilot"),
            (None, "ct-other", None, "copilot"),
        ] {
            let named = choose(&rules(), flag, skill, tier).unwrap();
            assert_eq!(named.runner, runner);
        }
        assert_eq!(flag.model.as_deref(), Some("a/b:c"));
        assert_eq!(choose(&Rules::default(), None, "ct-docs", Some(1)), None);
    }

    #[test]
    fn unknown_runner_is_refused() {
        for text in ["", "cluade:opus", "claude:", "claude:a b", "Claude"] {
            assert!(read(text).is_err(), "{text}");
        }
        for text in ["1", "=claude", "1=", "1=nobody"] {
            assert!(read_rules(text).is_err(), "{text}");
        }
    }
}
