//! A row of `nodes`: what the graph keeps of a task.

use super::SqlTransaction;
use super::graph::{priority, status};
use super::row::Row;
use crate::error::Result;
use crate::store::dangling;
use crate::task::{Priority, Status, Task};

// The number comes first, so that a damaged row has a name.
pub(in crate::store) const SELECT: &str =
    "SELECT number, parent, status, rank, is_epic, open_needs, dropped_needs,
    open_children, dangling, below FROM nodes WHERE number = ?1";

pub(in crate::store) const SELECT_RANGE: &str =
    "SELECT number, parent, status, rank, is_epic, open_needs, dropped_needs,
    open_children, dangling, below FROM nodes WHERE number BETWEEN ?1 AND ?2";

const INSERT: &str = "INSERT INTO nodes
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)";

const UPDATE: &str = "UPDATE nodes SET parent = ?2, status = ?3, rank = ?4, is_epic = ?5,
    open_needs = ?6, dropped_needs = ?7, open_children = ?8, dangling = ?9, below = ?10,
    is_open = ?11, is_ready = ?12, is_stuck = ?13 WHERE number = ?1";

#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::store) struct Kept {
    pub(in crate::store) parent: Option<u32>,
    pub(in crate::store) status: Status,
    pub(in crate::store) priority: Priority,
    pub(in crate::store) is_epic: bool,
    pub(in crate::store) open_needs: u32,
    pub(in crate::store) dropped_needs: u32,
    pub(in crate::store) open_children: u32,
    pub(in crate::store) dangling: u32,
    pub(in crate::store) below: u32,
}

impl Kept {
    pub(in crate::store) fn from_task(task: &Task) -> Kept {
        Kept {
            parent: task.parent.map(|id| id.0),
            status: task.status,
            priority: task.priority,
            is_epic: task.kind.is_epic(),
            open_needs: 0,
            dropped_needs: 0,
            open_children: 0,
            dangling: u32::try_from(dangling(task).len()).unwrap_or(u32::MAX),
            below: 0,
        }
    }

    pub(in crate::store) fn is_open(&self) -> bool {
        !is_closed(self.status)
    }

    pub(in crate::store) fn is_ready(&self) -> bool {
        self.is_waiting_only_for(0, 0)
    }

    /// Returns whether it becomes ready with so many of its needs and children.
    pub(in crate::store) fn is_waiting_only_for(&self, needs: u32, children: u32) -> bool {
        let open = (self.open_needs, self.open_children, self.dangling);
        self.status == Status::Pending && !self.is_epic && open == (needs, children, 0)
    }

    /// Returns whether it waits for what does not come by itself, or is an epic that nothing ends.
    fn is_stuck(&self) -> bool {
        let is_empty = self.is_epic && self.open_children == 0;
        self.is_open() && (self.dangling > 0 || self.dropped_needs > 0 || is_empty)
    }

    pub(in crate::store) fn read(row: &Row<'_>) -> rusqlite::Result<Kept> {
        Ok(Kept {
            parent: row.get(1)?,
            status: status(row, 2)?,
            priority: priority(row, 3)?,
            is_epic: row.get(4)?,
            open_needs: row.get(5)?,
            dropped_needs: row.get(6)?,
            open_children: row.get(7)?,
            dangling: row.get(8)?,
            below: row.get(9)?,
        })
    }
}

impl SqlTransaction<'_> {
    pub(in crate::store) fn read_kept(&self, number: u32) -> Result<Option<Kept>> {
        self.first(SELECT, [number], Kept::read)
    }

    pub(in crate::store) fn write_kept(
        &self,
        is_new: bool,
        number: u32,
        kept: &Kept,
    ) -> Result<()> {
        let row = (
            number,
            kept.parent,
            kept.status.word(),
            kept.priority as u32,
            kept.is_epic,
            kept.open_needs,
            kept.dropped_needs,
            kept.open_children,
            kept.dangling,
            kept.below,
            kept.is_open(),
            kept.is_ready(),
            kept.is_stuck(),
        );
        let sql = if is_new { INSERT } else { UPDATE };
        self.execute(sql, row)
    }
}

pub(in crate::store) fn is_closed(status: Status) -> bool {
    matches!(status, Status::Done | Status::Cancelled)
}
