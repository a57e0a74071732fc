//! How many things an answer holds.

use serde::{Deserialize, Deserializer, de};

use crate::error::{Code, Error, Result};

/// Reads how many are asked for, where any number may be: one that is larger than all others is the largest.
pub(super) fn any<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> std::result::Result<Option<u32>, D::Error> {
    let text = String::deserialize(deserializer)?;
    let is_number = !text.is_empty() && text.bytes().all(|digit| digit.is_ascii_digit());
    match text.parse() {
        Ok(limit) => Ok(Some(limit)),
        Err(_) if is_number => Ok(Some(u32::MAX)),
        Err(_) => Err(de::Error::custom("limit is no number from 1 on")),
    }
}

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
