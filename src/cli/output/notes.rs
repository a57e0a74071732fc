//! Messages on standard error.

use std::env;
use std::io::{self, IsTerminal, Write};

use crate::cli::screen::{Cell, Screen, Tone};
use crate::error::Error;

/// Lines for people on standard error.
#[derive(Clone)]
pub(in crate::cli) struct Notes {
    color: bool,
    quiet: bool,
    /// Whether a line is drawn, which the next one replaces.
    has_drawn: bool,
}

impl Notes {
    /// Makes them; `quiet` shows errors only.
    pub(super) fn new(color: bool, quiet: bool) -> Notes {
        Notes {
            color,
            quiet,
            has_drawn: false,
        }
    }

    pub(super) fn can_draw(&self) -> bool {
        let able = env::var("TERM").is_ok_and(|term| term != "dumb");
        able && !self.quiet && io::stderr().is_terminal()
    }

    pub(super) fn warn(&self, warnings: &[String]) {
        if self.quiet || warnings.is_empty() {
            return;
        }
        let mut screen = Screen::new(self.color);
        for warning in warnings {
            screen
                .say(Tone::Warn, "warning: ")
                .line(Tone::Plain, warning);
        }
        eprint_whole(&screen.finish());
    }

    pub(in crate::cli) fn explain(&self, error: &Error) {
        let mut screen = Screen::new(self.color);
        screen
            .say(Tone::Bad, "error")
            .say(Tone::Dim, format!("[{}]", error.code.name()));
        screen.line(Tone::Plain, format!(": {}", error.display_message()));
        if let Some(fix) = &error.fix {
            screen.say(Tone::Dim, "  try: ").line(Tone::Accent, fix);
        }
        for other in &error.alternatives {
            screen
                .say(Tone::Dim, format!("  or {}: ", other.action))
                .line(Tone::Accent, &other.command);
        }
        eprint_whole(&screen.finish());
    }

    pub(in crate::cli) fn line(&self, tone: Tone, text: &str) {
        if !self.quiet {
            let mut screen = Screen::new(self.color);
            screen.line(tone, text);
            eprint_whole(&screen.finish());
        }
    }

    /// Draws a line over the one that was drawn last, cut at the width of the terminal.
    pub(in crate::cli) fn draw(&mut self, row: &[Cell]) {
        self.erase();
        let mut screen = Screen::new(self.color);
        screen.cut(row);
        eprint_whole(&screen.finish());
        self.has_drawn = true;
    }

    pub(in crate::cli) fn erase(&mut self) {
        if std::mem::take(&mut self.has_drawn) {
            eprint_whole("\u{1b}[1A\u{1b}[J");
        }
    }
}

pub(super) fn eprint_whole(text: &str) {
    // A closed standard error cannot be reported.
    let _ = io::stderr().lock().write_all(text.as_bytes());
}
