//! Criteria whose commands only a shell carries out, as they can come from another place: why nothing shows
//! them to hold.

use super::standing::CriterionStanding;
use crate::gate::{Criterion, for_shells, obeyed};

impl CriterionStanding {
    /// Says why its command would do half of what it asks for; none where it does all of it.
    pub(crate) fn half(&self) -> Option<String> {
        let sign = Criterion::read(&self.line).line.and_then(obeyed)?;
        Some(format!("it is run without a shell: {}", for_shells(sign)))
    }
}
