//! Settings: the one table of what can be set, and which layer sets it. Pure; `ops::config` reads
//! and writes the files. Layers: options, environment, project, user, defaults.

pub(crate) mod file;
mod key;
mod kind;
mod layers;
mod table;

pub(crate) use key::Key;
pub(crate) use kind::{Kind, Value, seconds};
pub(crate) use layers::{Origin, Settings};
pub(crate) use table::*;
