//! Programs that cleo starts itself.

mod pipes;
pub mod process;
pub mod signals;
