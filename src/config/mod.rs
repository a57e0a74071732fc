//! Settings: the table of all settings and their layers: options, environment, project, user, defaults. Pure;
//! `ops::config` reads and writes the files.

pub(crate) mod file;
mod kind;
mod table;

use std::fmt;
use std::path::Path;

use kind::parse_price;
pub(crate) use kind::{Key, Kind, Value, parse_seconds};
pub(crate) use table::*;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    Option(&'static str),
    Variable(&'static str),
    File { path: String, line: usize },
    Default,
}

impl Origin {
    fn is_project(&self) -> bool {
        matches!(self, Origin::File { path, .. } if Path::new(path).ends_with(".cleo/config.yaml"))
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::Option(name) => formatter.write_str(name),
            Origin::Variable(name) => formatter.write_str(name),
            Origin::File { path, line } => write!(formatter, "{path}:{line}"),
            Origin::Default => formatter.write_str("default"),
        }
    }
}

/// Values with their origins; the first one of a setting takes precedence.
#[derive(Clone, Debug, Default)]
pub(crate) struct Settings {
    set: Vec<(&'static str, Value, Origin)>,
}

impl Settings {
    /// Adds a value after those that take precedence. Any layer can demand more proof, and none less.
    pub(crate) fn add(&mut self, key: &'static Key, value: Value, origin: Origin) {
        let is_more = key.name == VERIFY_REQUIRED && value == Value::Text("always".to_string());
        let place = if is_more { 0 } else { self.set.len() };
        self.set.insert(place, (key.name, value, origin));
    }

    pub(crate) fn find(&self, key: &'static Key) -> Option<(Value, Origin)> {
        let set = self.set.iter().find(|(name, _, _)| *name == key.name);
        let default = || Some((key.read(key.default?).ok()?, Origin::Default));
        set.map(|(_, value, origin)| (value.clone(), origin.clone()))
            .or_else(default)
    }

    fn value(&self, name: &str) -> Option<Value> {
        self.find(Key::find(name)?).map(|(value, _)| value)
    }

    pub(crate) fn text(&self, name: &str) -> Option<String> {
        match self.value(name)? {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    pub(crate) fn number(&self, name: &str) -> Option<u64> {
        match self.value(name)? {
            Value::Number(number) => Some(number),
            _ => None,
        }
    }

    pub(crate) fn price(&self, name: &str) -> Option<f64> {
        parse_price(&self.text(name)?)
    }

    pub(crate) fn origin(&self, name: &str) -> Option<Origin> {
        self.find(Key::find(name)?).map(|(_, origin)| origin)
    }

    /// Returns the variable that says a setting, where one does: it counts before every file.
    pub(crate) fn variable(&self, name: &str) -> Option<&'static str> {
        match self.origin(name)? {
            Origin::Variable(variable) => Some(variable),
            _ => None,
        }
    }

    pub(crate) fn is_from_project(&self, name: &str) -> bool {
        self.origin(name).is_some_and(|origin| origin.is_project())
    }

    pub(crate) fn is_on(&self, name: &str) -> bool {
        self.value(name) == Some(Value::Flag(true))
    }

    pub(crate) fn folders(&self, name: &str) -> Vec<String> {
        match self.value(name) {
            Some(Value::Folders(folders)) => folders,
            _ => Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn project_and_user_files_are_distinguished() {
        let key = Key::require("llm.baseUrl").unwrap();
        for (path, is_project) in [
            ("/home/me/project/.cleo/config.yaml", true),
            ("/home/me/.config/cleo/config.yaml", false),
            ("/home/x.cleo/config.yaml", false),
        ] {
            let mut settings = Settings::default();
            let (path, line) = (path.to_string(), 1);
            settings.add(key, Value::Text("x".into()), Origin::File { path, line });
            assert_eq!(settings.is_from_project("llm.baseUrl"), is_project);
        }
        assert!(!Settings::default().is_from_project("llm.baseUrl"));
    }

    #[test]
    fn first_layer_counts() {
        let key = Key::require("list.limit").unwrap();
        let mut settings = Settings::default();
        assert_eq!(settings.number("list.limit"), Some(50));
        settings.add(key, Value::Number(1), Origin::Variable("CLEO_LIST_LIMIT"));
        settings.add(key, Value::Number(2), Origin::Default);
        assert_eq!(settings.number("list.limit"), Some(1));
        assert_eq!(settings.variable("list.limit"), Some("CLEO_LIST_LIMIT"));
        assert_eq!(settings.variable("gates.timeLimit"), None);
        assert_eq!(settings.number("gates.timeLimit"), Some(600));
    }
}
