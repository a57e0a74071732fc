//! Tasks as the pages show them: graph, rows and single tasks, joined with the last runs; and the search of all things.

mod graph;
mod page;
mod rows;
pub(crate) mod runs;
mod scene;
mod search;
mod show;
mod tracks;

pub(crate) use graph::{GraphQuery, GraphShown, graph};
pub(crate) use page::{TaskPage, page};
pub(crate) use rows::{RowsQuery, RowsShown, rows};
pub(crate) use scene::Scenes;
pub(crate) use search::{Found, SearchQuery, search};
pub(crate) use show::{Shown, show};
pub(crate) use tracks::Tracks;
