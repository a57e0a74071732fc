//! Who calls, and what that allows.

use crate::ops::tokens::Scope;

/// Who calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Caller {
    /// Whose executions, conversations and agents are made.
    pub(super) user: String,
    /// What may be done.
    pub(super) scope: Scope,
    /// Whether it is the user of this machine, who needs no token.
    pub(super) is_local: bool,
    /// When the token ends.
    pub(super) expires_at: Option<String>,
}

impl Caller {
    /// Returns whose rows may be seen; none: everybody's.
    pub(super) fn only(&self) -> Option<&str> {
        (self.scope < Scope::Admin).then_some(self.user.as_str())
    }
}
