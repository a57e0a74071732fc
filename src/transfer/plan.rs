//! Which task each record becomes. A first reading of the file gives the [`Outline`]: ids and
//! references, no texts. With what the store knows it becomes a [`Plan`], and a second reading of
//! the file gives the tasks. So a file of any size needs little memory.

mod circles;
mod complete;
mod outline;
mod resolve;
mod untold;

use std::collections::HashMap;
use std::rc::Rc;

use super::Format;
use super::report::Report;
use crate::error::Result;
use crate::id::TaskId;
use crate::task::Status;
pub(crate) use complete::{Plan, Planned, add_to_list, date};
pub(crate) use outline::came_from;

/// Largest number that a task may keep: one near the end of the range would use up all ids.
pub(crate) const NUMBER_MAX: u32 = 99_999_999;
/// No name.
const NONE: u32 = u32::MAX;

/// What the store knows, and how it hands out ids.
pub(crate) trait Known {
    /// Finds the task that came from another file's task.
    fn by_origin(&self, format: &str, id: &str) -> Result<Option<TaskId>>;
    /// Reads when a task was created; none when there is no such task.
    fn created(&self, id: TaskId) -> Result<Option<String>>;
    /// Reads the format and the id that a task came from.
    fn origin(&self, id: TaskId) -> Result<Option<(String, String)>>;
    /// Reads what a task depends on.
    fn depends(&self, id: TaskId) -> Result<Vec<TaskId>>;
    /// Reads what a task waits for: what it depends on, and its parts.
    fn waits_for(&self, id: TaskId) -> Result<Vec<TaskId>>;
    /// Reads the task above.
    fn parent(&self, id: TaskId) -> Result<Option<TaskId>>;
    /// Hands out an id.
    fn next_id(&mut self) -> Result<TaskId>;
    /// Sees to it that ids up to this one are not handed out.
    fn reserve(&mut self, id: TaskId) -> Result<()>;
}

/// What the user wants of an import.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wishes {
    /// Leave out what is over.
    pub(crate) open_only: bool,
    /// Go on without what cannot be taken over.
    pub(crate) drop_faults: bool,
    /// How deep tasks may be nested.
    pub(crate) depth_max: usize,
}

/// Each name once.
#[derive(Default)]
struct Names {
    numbers: HashMap<Rc<str>, u32>,
    names: Vec<Rc<str>>,
}

impl Names {
    fn number(&mut self, name: &str) -> u32 {
        if let Some(number) = self.numbers.get(name) {
            return *number;
        }
        let number = u32::try_from(self.names.len()).unwrap_or(NONE);
        let name: Rc<str> = name.into();
        self.names.push(Rc::clone(&name));
        self.numbers.insert(name, number);
        number
    }

    fn name(&self, number: u32) -> &str {
        self.names.get(number as usize).map_or("", |name| name)
    }
}

#[derive(Clone, Copy)]
struct Edge {
    given: u32,
    readings: [u32; 2],
}

struct Entry {
    key: u32,
    id: u32,
    /// The id under which a second import finds it.
    origin: u32,
    file: u32,
    line: u32,
    dropped: bool,
    status: Status,
    /// Times of creation and change, where a line can repeat another.
    times: Option<Box<(String, String)>>,
    created: Option<Box<str>>,
    /// Where a task of our own came from, when it is a copy of one.
    came_from: Option<Box<(String, String)>>,
    parents: Box<[Edge]>,
    /// Whether the file says nothing of what it is a part of.
    is_parent_untold: bool,
    depends: Box<[Edge]>,
    target: TaskId,
    is_known: bool,
    parent: Option<TaskId>,
    needs: Vec<TaskId>,
    dangling: Vec<u32>,
    /// Those of them that closed a circle.
    circular: Vec<u32>,
    /// What became a relation, and of which kind.
    related: Vec<(&'static str, u32)>,
}

/// Ids and references of a file, and what was noticed while it was read.
pub(crate) struct Outline {
    format: Format,
    wishes: Wishes,
    names: Names,
    entries: Vec<Entry>,
    owners: HashMap<u32, usize>,
    aliases: HashMap<u32, usize>,
    /// What was left out, and whether it is done.
    left: HashMap<u32, bool>,
    report: Report,
}

/// Where a reference leads.
enum Target {
    Task(TaskId),
    Satisfied,
    Deleted,
    Missing,
}

impl Outline {
    /// Decides what becomes of each record.
    pub(crate) fn plan(mut self, known: &mut dyn Known) -> Result<Plan> {
        self.hand_out(known)?;
        for at in 0..self.entries.len() {
            if !self.entries[at].dropped {
                let word = self.entries[at].status.word();
                *self.report.by_status.entry(word).or_insert(0) += 1;
                self.resolve(at, known)?;
            }
        }
        self.keep_untold(known)?;
        self.refuse_parents(known)?;
        self.refuse_circles(known)?;
        self.part_from_whole(known)?;
        Ok(Plan {
            format: self.format,
            names: self.names,
            entries: self.entries,
            next: 0,
            open_only: self.wishes.open_only,
            report: self.report,
        })
    }
}
