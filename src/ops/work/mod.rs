//! Tasks as the pages show them: graph, rows and single tasks, joined with the last runs; and the search of all things.

mod at_work;
mod graph;
mod now;
mod page;
mod rows;
pub(crate) mod runs;
mod scene;
mod search;
mod show;
mod tracks;

pub(crate) use at_work::list_at_work;
pub(crate) use graph::{Epics, GraphQuery, GraphView, epics, graph};
pub(crate) use now::{Now, NowQuery, now};
pub(crate) use page::{TaskPage, page};
pub(crate) use rows::{RowPage, RowsQuery, rows};
pub(crate) use scene::{Scenes, count_ready};
pub(crate) use search::{SearchPage, SearchQuery, search};
pub(crate) use show::{Shown, ShownOutput, show};
pub(crate) use tracks::Tracks;
