//! Settings: the one table of what can be set, and which layer sets it. Pure; `ops::config` reads
//! and writes the files. Layers: options, environment, project, user, defaults.

pub mod file;
mod key;
mod kind;
mod layers;
mod table;

pub use key::Key;
pub use kind::{Kind, Value, seconds};
pub use layers::{Origin, Settings};
pub use table::*;
