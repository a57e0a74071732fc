//! The file of the manifest, read as a stream and only ever appended to. A file that is not there
//! is an empty manifest; a faulty line never hides the lines around it.

mod append;
mod compact;
mod late;
mod lines;
mod lookup;
mod scan;
mod search;
mod survey;
mod tail;
mod taken;

pub use append::{append, refuse_duplicate};
pub use compact::{Compacted, compact};
pub use lookup::{Found, find, find_all, for_tasks, ids_in_use};
pub use scan::{Line, scan};
pub use search::{Latest, any_text, latest_for, with_followups};
pub use survey::{Survey, survey};
pub use tail::last;
pub use taken::{Taken, taken};

use lines::each_line;

#[cfg(test)]
mod tests;
