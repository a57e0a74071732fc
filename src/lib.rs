//! Turns a graph of tasks into work by AI agents that is checked, not believed.
pub mod clock;
pub mod error;
pub mod id;
pub mod manifest;
pub mod ops;
pub mod protocol;
pub mod reply;
pub mod score;
pub mod store;
pub mod task;
pub mod workspace;
