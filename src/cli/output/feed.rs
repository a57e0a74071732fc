//! A feed of changes, for `watch` and for runs that are looked at.

use std::io::{self, Write};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde::Serialize;

use crate::cli::arguments::Format;
use crate::cli::screen::Screen;

/// A stream of changes for people or programs: each line is out as soon as it is written.
pub(in crate::cli) struct Feed {
    stdout: io::StdoutLock<'static>,
    format: Format,
    color: bool,
    broken: Option<io::Error>,
}

impl Feed {
    /// Begins a feed.
    pub(super) fn new(format: Format, color: bool) -> Feed {
        Feed {
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

    /// Writes one line; false when nobody can read it any more.
    pub(in crate::cli) fn line<T: Serialize>(
        &mut self,
        row: &T,
        text: impl FnOnce(&mut Screen),
    ) -> bool {
        let line = match self.format {
            Format::Text => {
                let mut screen = Screen::new(self.color);
                text(&mut screen);
                screen.finish()
            }
            _ => serde_json::to_string(row).unwrap_or_default() + "\n",
        };
        let written = self.stdout.write_all(line.as_bytes());
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
