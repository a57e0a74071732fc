//! How many things an answer holds.

use crate::error::{Code, Error, Result};

/// Bounds how many things an answer holds.
pub(super) fn bounded(limit: Option<u32>, usual: u32, max: u32) -> Result<u32> {
    let limit = limit.unwrap_or(usual);
    if (1..=max).contains(&limit) {
        return Ok(limit);
    }
    let message = format!("limit is {limit}; it can be 1 to {max}");
    Err(Error::new(Code::InputInvalid, message))
}

/// Bounds how many things an answer holds where whoever asks for more gets as many as there may be.
pub(super) fn at_most(limit: Option<u32>, usual: u32, max: u32) -> Result<u32> {
    bounded(limit.map(|limit| limit.min(max)), usual, max)
}
