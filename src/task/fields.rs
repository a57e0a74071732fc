//! Requests that set fields of a task: a new one ([`Draft`]) and a change ([`Patch`]), as options and in JSON.

use clap::{Args, ValueEnum};
use serde::{Deserialize, Deserializer};

use super::draft::Reference;
use super::rules::{
    check_due, check_estimate, check_files, check_list, check_note, check_phase, check_text,
    check_title, check_word,
};
use super::{Note, Priority, Size, Status, Task, TaskType};
use crate::error::{Code, Error, Result};
use crate::gate::{Criterion, Gate};
use crate::id::TaskId;

/// A task, or none.
type Parent = Option<TaskId>;

/// Declares the fields that a new task and a change share, each with attributes for reading it, those of the change
/// alone, and the name by which a change empties it.
macro_rules! fields {
    ($(
        $(#[$help:meta])+
        ($($how:meta),*)
        $name:ident: $type:ty $(, change($change:meta))? $(, clear($(#[$word:meta])? $clear:ident))?;
    )+) => {
        #[derive(Clone, Debug, Default, PartialEq, Args, Deserialize, schemars::JsonSchema)]
        #[serde(rename_all = "camelCase", default, deny_unknown_fields)]
        pub(crate) struct Draft {
            /// Title: one line that begins with a verb
            #[arg(required_unless_present = "batch", default_value = "", hide_default_value = true)]
            #[schemars(transform = super::schema::line(super::rules::TITLE_MAX))]
            pub(crate) title: String,
            $($(#[$help])+ $(#[$how])* pub(crate) $name: $type,)+
            /// Tasks that must be done first (T2, or @key), repeated or separated by commas
            #[arg(long, value_name = "TASK", value_delimiter = ',')]
            pub(crate) depends: Vec<Reference>,
            /// Parent task (T1, or @key)
            #[arg(long, value_name = "TASK")]
            pub(crate) parent: Option<Reference>,
            /// Add the task only if no task has this key
            #[arg(long, value_name = "KEY")]
            #[schemars(transform = super::schema::line(100))]
            pub(crate) key: Option<String>,
        }

        // Fields that are `None` or empty stay.
        #[derive(Clone, Debug, Default, PartialEq, Args, Deserialize, schemars::JsonSchema)]
        #[serde(rename_all = "camelCase", default, deny_unknown_fields)]
        #[command(after_help = "\
List options add values to the task; --clear and --remove-… remove values first.
Paths of --file and --deliverable count from the current folder.

Examples:
  cleo update T3 --title 'Implement token refresh' --priority high
  cleo update T3 --depends T2 --label auth --note 'waits for the research'
  cleo update T3 --clear labels --label backend
  cleo update T3 --parent none
  cleo update T3 --require-gate implemented --require-gate testsPassed")]
        pub(crate) struct Patch {
            /// The task
            #[serde(rename = "id")]
            pub(crate) task: TaskId,
            /// Title: one line that begins with a verb
            #[arg(long, value_name = "TEXT")]
            #[schemars(transform = super::schema::line(super::rules::TITLE_MAX))]
            pub(crate) title: Option<String>,
            $($(#[$help])+ $(#[$how])* $(#[$change])? pub(crate) $name: $type,)+
            /// Tasks that must be done first, repeated or separated by commas
            #[arg(long, value_name = "TASK", value_delimiter = ',')]
            #[serde(rename = "addDepends")]
            pub(crate) depends: Vec<TaskId>,
            /// Parent task, or `none`
            #[arg(long, value_name = "TASK", value_parser = parse_parent)]
            #[serde(deserialize_with = "deserialize_given")]
            #[schemars(with = "Option<TaskId>", description = "Parent task; null for none")]
            pub(crate) parent: Option<Parent>,
            /// New status: pending, active, review, blocked or paused
            #[arg(long, value_name = "STATUS", value_parser = parse_status)]
            pub(crate) status: Option<Status>,
            /// Remove a dependency, also one on a task that does not exist (repeat for more)
            #[arg(long, value_name = "TASK")]
            pub(crate) remove_depends: Vec<String>,
            /// Remove labels, repeated or separated by commas
            #[arg(long = "remove-label", value_name = "LABEL", value_delimiter = ',')]
            pub(crate) remove_labels: Vec<String>,
            /// Remove a file or glob, spelled as in the task (repeat for more)
            #[arg(long = "remove-file", value_name = "PATH")]
            pub(crate) remove_files: Vec<String>,
            /// Require this gate, in place of the default gates (repeat for more)
            #[arg(long = "require-gate", value_name = "GATE")]
            #[schemars(with = "Vec<Gate>")]
            pub(crate) require_gates: Vec<String>,
            /// Clear a field before other changes are made (repeat for more)
            #[arg(long, value_name = "FIELD", value_enum, value_delimiter = ',')]
            pub(crate) clear: Vec<ListField>,
        }

        /// A field that can be emptied.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, ValueEnum, schemars::JsonSchema)]
        #[serde(rename_all = "camelCase")]
        pub(crate) enum ListField {
            $($($(#[$word])? $clear,)?)+
            Parent,
            Depends,
            Key,
            RequiredGates,
        }

        impl ListField {
            pub(crate) fn clear(self, task: &mut Task) {
                match self {
                    $($(ListField::$clear => task.$name = Default::default(),)?)+
                    ListField::Parent => task.parent = None,
                    ListField::Depends => task.depends.clear(),
                    ListField::Key => task.key = None,
                    // They are kept with the gates.
                    ListField::RequiredGates => {}
                }
            }
        }

        impl From<Draft> for Patch {
            fn from(draft: Draft) -> Patch {
                let title = Some(draft.title);
                Patch { title, $($name: draft.$name,)+ ..Patch::default() }
            }
        }

        impl From<Patch> for Draft {
            fn from(patch: Patch) -> Draft {
                let title = patch.title.unwrap_or_default();
                Draft { title, $($name: patch.$name,)+ ..Draft::default() }
            }
        }
    };
}

fields! {
    /// Full description
    (arg(long, short, value_name = "TEXT"), schemars(transform = super::schema::text))
    description: Option<String>, clear(Description);
    /// Kind of work: epic, task, subtask, research, testing, documentation, …
    (arg(long = "type", short = 't', value_name = "TYPE"), serde(rename = "type"))
    kind: Option<TaskType>;
    /// Labels, repeated or separated by commas
    (arg(long = "label", short, value_name = "LABEL", value_delimiter = ','), schemars(transform = super::schema::words))
    labels: Vec<String>, change(serde(rename = "addLabels")), clear(Labels);
    /// critical, high, medium or low
    (arg(long, short, value_name = "PRIORITY"))
    priority: Option<Priority>;
    /// Phase of the task
    (arg(long, value_name = "SLUG"), schemars(regex(pattern = r"^\s*[A-Za-z0-9._-]{1,100}\s*$")))
    phase: Option<String>, clear(Phase);
    /// small, medium or large
    (arg(long, value_name = "SIZE"))
    size: Option<Size>, clear(Size);
    /// Acceptance criterion, with an optional command that proves it: 'tests pass :: cargo test'
    /// (repeat for more)
    (arg(long, value_name = "TEXT"), schemars(transform = super::schema::lines))
    acceptance: Vec<String>, change(serde(rename = "addAcceptance")), clear(Acceptance);
    /// File or glob that the work changes (repeat for more)
    (arg(long = "file", value_name = "PATH"), schemars(transform = super::schema::lines))
    files: Vec<String>, change(serde(rename = "addFiles")), clear(Files);
    /// Expected result of the work (repeat for more)
    (arg(long = "deliverable", value_name = "TEXT"), schemars(transform = super::schema::lines))
    deliverables: Vec<String>, change(serde(rename = "addDeliverables")), clear(Deliverables);
    /// Note (repeat for more)
    (arg(long = "note", value_name = "TEXT"), schemars(transform = super::schema::note))
    notes: Vec<String>;
    /// Assigned agent
    (arg(long = "agent", value_name = "AGENT"), serde(alias = "agent"), schemars(transform = super::schema::line(100)))
    assigned_agent: Option<String>, clear(#[value(name = "agent")] AssignedAgent);
    /// Due date, or a time in RFC 3339
    (arg(long, value_name = "DATE"), schemars(transform = super::schema::moment))
    due: Option<String>, clear(Due);
    /// Estimated hours
    (arg(long, value_name = "HOURS"), schemars(range(min = 0), extend("exclusiveMaximum" = 999.995)))
    estimate: Option<f64>, clear(Estimate);
    /// Feature that the task belongs to
    (arg(long, value_name = "NAME"), schemars(transform = super::schema::line(100)))
    feature: Option<String>, clear(Feature);
}

impl Task {
    /// Returns the optional fields of one line, as people read them.
    pub(crate) fn describe(&self) -> Vec<(&'static str, String)> {
        let fields = [
            ("labels", Some(self.labels.join(", "))),
            ("phase", self.phase.clone()),
            ("feature", self.feature.clone()),
            ("agent", self.assigned_agent.clone()),
            ("estimate", self.estimate.map(|hours| format!("{hours} h"))),
            ("key", self.key.clone()),
        ];
        let given = fields.into_iter();
        given
            .filter_map(|(name, text)| Some((name, text?)))
            .collect()
    }
}

impl Draft {
    /// Makes a task of it, without an id, times, an author of its notes and references.
    pub(crate) fn into_task(mut self) -> Result<Task> {
        let mut task = Task::default();
        task.title.clone_from(&self.title);
        task.key = self.key.take().map(|key| key.trim().to_string());
        check_word("key", task.key.as_deref()).map_err(|error| error.in_field("key"))?;
        Patch::from(self).apply(&mut task, "", "")?;
        Ok(task)
    }
}

impl Patch {
    pub(crate) fn read_required_gates(&self) -> Result<Vec<Gate>> {
        self.require_gates
            .iter()
            .map(|gate| Gate::read(gate).map_err(|error| error.in_field("requireGates")))
            .collect()
    }

    pub(crate) fn is_empty(&self) -> bool {
        *self
            == Patch {
                task: self.task,
                ..Patch::default()
            }
    }

    /// Checks the given fields and sets them: values are replaced, lists are extended. The caller checks the rules of
    /// the status and of the graph.
    pub(crate) fn apply(self, task: &mut Task, now: &str, by: &str) -> Result<()> {
        let within = |field: &'static str| move |error: Error| error.in_field(field);
        if let Some(title) = self.title {
            task.title = title.trim().to_string();
            check_title(&task.title).map_err(within("title"))?;
        }
        if let Some(description) = self.description {
            check_text("description", &description).map_err(within("description"))?;
            task.description = description;
        }
        let phase = self.phase.map(|phase| phase.trim().to_string());
        check_phase(phase.as_deref()).map_err(within("phase"))?;
        for (name, word, field) in [
            ("phase", phase, &mut task.phase),
            (
                "assignedAgent",
                self.assigned_agent,
                &mut task.assigned_agent,
            ),
            ("feature", self.feature, &mut task.feature),
        ] {
            if let Some(word) = word {
                check_word(name, Some(word.trim())).map_err(within(name))?;
                *field = Some(word.trim().to_string());
            }
        }
        if let Some(due) = self.due {
            task.due = Some(check_due(&due).map_err(within("due"))?);
        }
        let estimate = check_estimate(self.estimate).map_err(within("estimate"))?;
        task.estimate = estimate.or(task.estimate);
        task.kind = self.kind.unwrap_or_else(|| task.kind.clone());
        task.priority = self.priority.unwrap_or(task.priority);
        task.size = self.size.or(task.size);
        if let Some(label) = self.labels.iter().find(|label| label.contains(',')) {
            let message = format!("the label `{label}` holds a comma, which separates labels");
            return Err(Error::new(Code::TaskInvalid, message).in_field("labels"));
        }
        for line in &self.acceptance {
            Criterion::check(line.trim()).map_err(within("acceptance"))?;
        }
        let files = check_list("files", self.files).and_then(|files| check_files(&files));
        let files = files.map_err(within("files"))?;
        for (name, more, field) in [
            ("labels", self.labels, &mut task.labels),
            ("files", files, &mut task.files),
            ("acceptance", self.acceptance, &mut task.acceptance),
            ("deliverables", self.deliverables, &mut task.deliverables),
        ] {
            if !more.is_empty() {
                field.extend(more);
                *field = check_list(name, std::mem::take(field)).map_err(within(name))?;
            }
        }
        for text in self.notes {
            check_note(&text).map_err(within("notes"))?;
            let (at, by) = (now.to_string(), by.to_string());
            task.notes.push(Note { at, by, text });
        }
        task.parent = self.parent.unwrap_or(task.parent);
        for id in self.depends {
            if !task.depends.contains(&id) {
                task.depends.push(id);
            }
        }
        Ok(())
    }
}

/// Reads any status, so that a refusal can name the command for it. The error for another text lists those that can be
/// set here.
fn parse_status(text: &str) -> std::result::Result<Status, String> {
    text.parse().map_err(|_| {
        let is_open = |status: &&Status| !status.is_closed();
        let open = Status::ALL.iter().filter(is_open);
        let open: Vec<&str> = open.map(|status| status.word()).collect();
        format!(
            "`{text}` is not a valid status; use one of {}",
            open.join(", ")
        )
    })
}

fn parse_parent(text: &str) -> std::result::Result<Parent, String> {
    match text {
        "none" => Ok(None),
        id => id.parse().map(Some),
    }
}

/// Reads a given value, which may be null, so that it differs from a field that is left out.
pub(crate) fn deserialize_given<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    from: D,
) -> std::result::Result<Option<T>, D::Error> {
    T::deserialize(from).map(Some)
}
