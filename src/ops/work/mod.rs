//! Tasks as people watch them: the graph with places for everything, rows of a list or a board, one
//! task with all that is known of it. What runs tell of tasks is joined with what the store says.

mod graph;
mod memory;
mod page;
mod proof;
mod row;
mod rows;
pub(crate) mod runs;
mod scene;
mod search;
mod show;

pub(crate) use graph::{GraphQuery, GraphShown, graph};
pub(crate) use memory::{Memory, lock};
pub(crate) use page::{TaskPage, page};
pub(crate) use proof::{Left, look_at};
pub(crate) use rows::{RowsQuery, RowsShown, rows};
pub(crate) use search::{Found, SearchQuery, search};
pub(crate) use show::{Shown, show};
