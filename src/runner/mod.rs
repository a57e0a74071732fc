//! Programs that cleo starts itself.

pub mod process;
