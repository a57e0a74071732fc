//! Tasks as people watch them: the graph with places for everything, rows of a list or a board, one
//! task with all that is known of it. What runs tell of tasks is joined with what the store says.

mod graph;
mod memory;
mod page;
mod proof;
mod row;
mod rows;
mod scene;
mod search;

pub use graph::{CriticalPath, GraphShown, GraphWanted, Group, NodeShown, graph};
pub use memory::Memory;
pub use page::{Dispatched, GatesShown, Linked, Refused, SpawnTold, TaskPage, Tried, page};
pub use proof::{Left, left};
pub use row::{ClaimShown, Row};
pub use rows::{Choice, Dir, Order, RowsShown, RowsWanted, rows};
pub use scene::{Counted, states};
pub use search::{Found, Item, Kind, Sought, search};
