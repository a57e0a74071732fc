//! A feed of changes, for `log --follow` and for runs that are looked at.

use std::io::{self, Write};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde::Serialize;

use super::view::View;
use crate::cli::arguments::Format;
use crate::cli::screen::Screen;

/// A stream of changes for people or programs: each line is out as soon as it is written.
pub(in crate::cli) struct Feed<'a> {
    view: &'a View,
    stdout: io::StdoutLock<'static>,
    format: Format,
    color: bool,
    broken: Option<io::Error>,
}

impl<'a> Feed<'a> {
    /// Begins a feed whose lines show what `view` asks for.
    pub(super) fn new(view: &'a View, format: Format, color: bool) -> Feed<'a> {
        Feed {
            view,
            stdout: io::stdout().lock(),
            format,
            color,
            broken: None,
        }
    }

    /// Returns why nobody can read it any more.
    pub(super) fn broken(self) -> Option<io::Error> {
        self.broken
    }

    /// Shows text as soon as it is there; false when nobody can read it any more.
    pub(in crate::cli) fn show(&mut self, text: impl FnOnce(&mut Screen)) -> bool {
        let mut screen = Screen::new(self.color);
        text(&mut screen);
        let written = self.stdout.write_all(screen.finish().as_bytes());
        self.broken = written.and_then(|()| self.stdout.flush()).err();
        self.broken.is_none()
    }

    /// Writes one line, or what was asked for of it; false when nobody can read it any more.
    pub(in crate::cli) fn line<T: Serialize>(
        &mut self,
        row: &T,
        text: impl FnOnce(&mut Screen),
    ) -> bool {
        if self.format == Format::Text {
            return self.show(text);
        }
        let written = self.view.row(&mut self.stdout, row);
        let written = self.view.judge(written);
        self.broken = written.and_then(|()| self.stdout.flush()).err();
        self.broken.is_none()
    }

    /// Says whether somebody can still read what is written. Only a pipe tells.
    pub(in crate::cli) fn has_reader(&self) -> bool {
        let mut pipe = [PollFd::new(&self.stdout, PollFlags::empty())];
        let told = poll(&mut pipe, Some(&Timespec::default()));
        told.is_err() || !pipe[0].revents().contains(PollFlags::ERR)
    }
}
