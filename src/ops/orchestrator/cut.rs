//! Lists and texts of an answer, cut until it fits into a number of tokens.

use serde::Serialize;

use crate::claim::Claim;
use crate::estimate;
use crate::session::Session;
use crate::task::{Note, TaskView};

/// The first members of a list, and its length.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(crate) struct Few<T> {
    pub(crate) shown: Vec<T>,
    pub(crate) total: u64,
}

impl<T> Few<T> {
    pub(super) fn new(shown: Vec<T>, total: u64) -> Few<T> {
        let total = total.max(shown.len() as u64);
        Few { shown, total }
    }
}

impl<T> From<Vec<T>> for Few<T> {
    fn from(all: Vec<T>) -> Few<T> {
        Few::new(all, 0)
    }
}

/// Maximum members of a list and characters of a text.
#[derive(Clone, Copy)]
pub(super) struct Size {
    pub(super) items: usize,
    pub(super) text: usize,
}

const SIZES: [(usize, usize); 6] = [(12, 160), (8, 100), (5, 72), (3, 40), (2, 20), (1, 12)];

/// An answer or a part of one that can be cut. Texts become one line without control characters.
pub(super) trait Cut {
    fn cut(&mut self, size: Size);
}

impl Cut for String {
    fn cut(&mut self, size: Size) {
        *self = estimate::one_line(self, size.text);
    }
}

impl<T: Cut> Cut for Option<T> {
    fn cut(&mut self, size: Size) {
        self.iter_mut().for_each(|one| one.cut(size));
    }
}

impl<T: Cut> Cut for Vec<T> {
    fn cut(&mut self, size: Size) {
        self.truncate(size.items);
        self.iter_mut().for_each(|one| one.cut(size));
    }
}

impl<T: Cut> Cut for Few<T> {
    fn cut(&mut self, size: Size) {
        self.shown.cut(size);
    }
}

/// Implements [`Cut`] for types by their fields.
macro_rules! cut {
    ($($type:ty: $($field:ident)*;)+) => {
        $(impl $crate::ops::orchestrator::cut::Cut for $type {
            fn cut(&mut self, size: $crate::ops::orchestrator::cut::Size) {
                $(self.$field.cut(size);)*
            }
        })+
    };
}
pub(super) use cut;

cut! {
    TaskView: title;
    Claim: holder;
    Note: by text;
    Session: name holder notes;
}

/// Cuts an answer until it has at most `tokens` tokens as JSON, or is as short as it can be.
pub(super) fn cut_to_tokens<T: Cut + Serialize>(tokens: usize, mut answer: T) -> T {
    for (items, text) in SIZES {
        answer.cut(Size { items, text });
        if estimate::tokens_of(&answer) <= tokens {
            break;
        }
    }
    answer
}
