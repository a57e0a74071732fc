//! The engine: what carries out plans, above everything that cleo can do. Nothing below knows it.

pub mod plans;
