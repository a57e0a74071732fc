//! How one try of an agent ended.

use crate::words::closed;

closed! {
    /// How one try ended. What an agent says of itself decides nothing: `Ok` is what verifies.
    Outcome, "outcome of an attempt":
    /// Its work is there and verifies.
    Ok = "ok",
    /// The agent says that it did a part.
    Partial = "partial",
    /// The agent says that it cannot go on.
    Blocked = "blocked",
    /// The agent ended in good order, and its work is not there as the protocol asks.
    ProtocolViolation = "protocol_violation",
    /// The agent's program failed.
    AgentError = "agent_error",
    /// The agent's model refused for too many requests.
    RateLimited = "rate_limited",
    /// It took too long, or was silent for too long.
    Timeout = "timeout",
    /// cleo was asked to end it.
    Cancelled = "cancelled",
    /// Its turns or its money ran out.
    Budget = "budget",
    /// It was not allowed what it needed.
    Permission = "permission",
}
