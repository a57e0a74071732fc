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
    /// Number of drawn lines that the next drawing replaces.
    drawn: usize,
}

impl Notes {
    /// Makes them; `quiet` shows errors only.
    pub(super) fn new(color: bool, quiet: bool) -> Notes {
        Notes {
            color,
            quiet,
            drawn: 0,
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
            screen.pair(Tone::Warn, "warning: ", warning);
        }
        write_to_stderr(&screen.finish());
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
        write_to_stderr(&screen.finish());
    }

    pub(in crate::cli) fn line(&self, tone: Tone, text: &str) {
        if !self.quiet {
            let mut screen = Screen::new(self.color);
            screen.line(tone, text);
            write_to_stderr(&screen.finish());
        }
    }

    /// Draws lines over those of the last drawing. Each is cut at the width of the terminal.
    pub(in crate::cli) fn draw(&mut self, rows: &[Vec<Cell>]) {
        let mut screen = Screen::new(self.color);
        for row in rows {
            screen.cut(row);
        }
        let above = self.move_cursor_up();
        self.drawn = rows.len();
        write_to_stderr(&(above + &screen.finish()));
    }

    pub(in crate::cli) fn erase(&mut self) {
        let above = self.move_cursor_up();
        self.drawn = 0;
        write_to_stderr(&above);
    }

    fn move_cursor_up(&self) -> String {
        match self.drawn {
            0 => String::new(),
            lines => format!("\u{1b}[{lines}A\u{1b}[J"),
        }
    }
}

pub(super) fn write_to_stderr(text: &str) {
    // A closed standard error cannot be reported.
    let _ = io::stderr().lock().write_all(text.as_bytes());
}
