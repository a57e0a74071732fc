//! What a file says nothing of: its format has no place for it, or the task there has no such field.

use super::fields::Fields;

/// A part of a task that not every file tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// What it is a part of.
    Parent,
    /// The long text.
    Description,
    /// Its type.
    Kind,
    /// How important it is.
    Priority,
    /// Its labels.
    Labels,
    /// The files that it touches.
    Files,
    /// When it counts as done.
    Acceptance,
    /// What comes out of it.
    Deliverables,
}

impl Part {
    fn bit(self) -> u8 {
        1 << self as u8
    }
}

/// Which fields of a format tell which part; any of them will do.
pub(super) type Told = [(Part, &'static [&'static str])];

/// The parts of a task that its file says nothing of: imported again, they stay as they are here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Silent(u8);

impl Silent {
    /// Looks which parts a task has fields for. What the table does not name is not told.
    pub(super) fn of(fields: &Fields, told: &Told) -> Silent {
        let is_there = |names: &[&str]| names.iter().any(|name| fields.get(name).is_some());
        let told = told.iter().filter(|(_, names)| is_there(names));
        Silent(told.fold(u8::MAX, |silent, (part, _)| silent & !part.bit()))
    }

    /// Counts a part as told if `is_told` says so.
    pub(super) fn unless(self, part: Part, is_told: bool) -> Silent {
        match is_told {
            true => Silent(self.0 & !part.bit()),
            false => self,
        }
    }

    /// Says whether the file says nothing of a part.
    pub(crate) fn on(self, part: Part) -> bool {
        self.0 & part.bit() != 0
    }
}
