//! Lists and texts that are cut to what an orchestrator can afford to read.

use serde::Serialize;

use crate::claim::Claim;
use crate::estimate;
use crate::session::Session;
use crate::task::{Note, TaskView};

/// The first of a list, and how long it is.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Debug, Serialize)]
pub(crate) struct Few<T> {
    pub(crate) shown: Vec<T>,
    pub(crate) total: usize,
}

impl<T> Few<T> {
    pub(super) fn new(shown: Vec<T>, total: usize) -> Few<T> {
        let total = total.max(shown.len());
        Few { shown, total }
    }
}

impl<T> From<Vec<T>> for Few<T> {
    fn from(all: Vec<T>) -> Few<T> {
        Few::new(all, 0)
    }
}

/// How much of everything is shown.
#[derive(Clone, Copy, Debug)]
pub(super) struct Size {
    /// Members of a list.
    pub(super) items: usize,
    /// Characters of a text.
    pub(super) text: usize,
}

/// Members and characters, from roomy to scarce.
const SIZES: [(usize, usize); 6] = [(12, 160), (8, 100), (5, 72), (3, 40), (2, 20), (1, 12)];

/// An answer, or a part of one, of which less can be shown. Texts become one line, without what steers a screen.
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

/// Says which fields of a type are cut.
macro_rules! cut {
    ($($type:ty: $($field:ident)*;)+) => {
        $(impl $crate::ops::orchestrator::few::Cut for $type {
            fn cut(&mut self, _size: $crate::ops::orchestrator::few::Size) {
                $(self.$field.cut(_size);)*
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

/// Cuts an answer until it has at most so many tokens as JSON; to the scarcest if nothing else fits.
pub(super) fn fit<T: Cut + Serialize>(tokens: usize, mut answer: T) -> T {
    for (items, text) in SIZES {
        answer.cut(Size { items, text });
        if estimate::tokens_of(&answer) <= tokens {
            break;
        }
    }
    answer
}
