//! Lists and texts that are cut to what an orchestrator can afford to read.

use serde::Serialize;

use crate::estimate;
use crate::task::{Task, TaskView};

/// The first of a list, and how long it is.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Few<T> {
    /// The first of them.
    pub(crate) shown: Vec<T>,
    /// How many there are.
    pub(crate) total: usize,
}

impl<T> Few<T> {
    /// Makes the list of what is shown out of so many.
    pub(super) fn of(shown: Vec<T>, total: usize) -> Few<T> {
        let total = total.max(shown.len());
        Few { shown, total }
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

/// From roomy to scarce.
const SIZES: [Size; 6] = [
    Size {
        items: 12,
        text: 160,
    },
    Size {
        items: 8,
        text: 100,
    },
    Size { items: 5, text: 72 },
    Size { items: 3, text: 40 },
    Size { items: 2, text: 20 },
    Size { items: 1, text: 12 },
];

impl Size {
    pub(super) fn view(self, task: &Task) -> TaskView {
        TaskView {
            id: task.id,
            title: self.cut(&task.title),
            status: task.status,
            priority: task.priority,
        }
    }

    /// Makes one line of a text and cuts it. What steers a screen goes.
    pub(super) fn cut(self, text: &str) -> String {
        estimate::one_line(text, self.text)
    }

    /// Cuts a list.
    pub(super) fn few<T, U>(self, all: &[T], total: usize, make: impl Fn(&T) -> U) -> Few<U> {
        Few::of(all.iter().take(self.items).map(make).collect(), total)
    }
}

/// Makes the roomiest answer that has at most so many tokens as JSON; the scarcest if none fits.
pub(super) fn fit<T: Serialize>(tokens: usize, make: impl Fn(Size) -> T) -> T {
    let [rooms @ .., scarcest] = SIZES;
    let fitting = rooms
        .into_iter()
        .map(&make)
        .find(|answer| estimate::tokens_of(answer) <= tokens);
    fitting.unwrap_or_else(|| make(scarcest))
}
