//! What an agent must do, and whether it did.

pub mod message;
