//! Two versions of a task and the one that both come from.
