//! Messages on standard error.

use std::io::{self, Write};

use crate::cli::screen::{Screen, Tone};
use crate::error::Error;

/// Lines for people on standard error.
#[derive(Clone)]
pub(in crate::cli) struct Notes {
    color: bool,
    quiet: bool,
}

impl Notes {
    /// Makes them; `quiet` shows errors only.
    pub(super) fn new(color: bool, quiet: bool) -> Notes {
        Notes { color, quiet }
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
}

pub(super) fn write_to_stderr(text: &str) {
    // A closed standard error cannot be reported.
    let _ = io::stderr().lock().write_all(text.as_bytes());
}
