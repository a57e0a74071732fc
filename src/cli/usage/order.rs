//! Arguments in the wrong order.

use clap::error::ContextKind;

use super::line::{Line, Role, Word, pasted};
use super::naming::context;
use crate::id::TaskId;

/// `cleo research link ENTRY T2` most likely means the entry and the task the other way round.
pub(super) fn swapped(fault: &clap::Error, line: &Line<'_>) -> Option<String> {
    let argument = context(fault, ContextKind::InvalidArg)?;
    let wrong = context(fault, ContextKind::InvalidValue)?;
    let words = line.words.iter().enumerate();
    let mut places = words.filter(|(_, word)| word.role == Role::Argument);
    let ((first, one), (second, other)) = (places.next()?, places.next()?);
    let is_first = one.gives(&argument) && one.text() == Some(&wrong);
    let is_task = other.text()?.parse::<TaskId>().is_ok();
    if !is_first || !is_task || other.gives(&argument) || places.next().is_some() {
        return None;
    }
    let words = line.words.iter().map(Word::text);
    let mut words: Vec<&str> = words.collect::<Option<_>>()?;
    words.swap(first, second);
    Some(pasted(words.into_iter()))
}
