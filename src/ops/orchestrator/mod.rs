//! What an agent asks that only orchestrates: where the work stands, what comes next and why, how
//! much it has read, and what it hands over. Every answer is short, however large the workspace.

mod brief;
mod budget;
mod context;
mod few;
mod followups;
mod markdown;
mod recommend;
mod scope;
mod start;
mod status;

pub use brief::{Brief, Finished, OpenSession, brief};
pub use budget::{Budget, State, limit};
pub use context::{Measured, Source, measure};
pub use few::{Few, Line};
pub use followups::Followup;
pub use markdown::{markdown, write_brief};
pub use recommend::Recommended;
pub use scope::Active;
pub use start::{Start, start};
pub use status::{EpicProgress, Overall, status};
