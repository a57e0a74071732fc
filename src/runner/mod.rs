//! Programs that cleo starts itself.

mod pipes;
pub mod probe;
pub mod process;
pub mod signals;
mod strays;
