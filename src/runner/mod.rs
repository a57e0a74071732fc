//! Programs that cleo starts itself.

mod pipes;
pub mod process;
mod signals;
