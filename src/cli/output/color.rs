//! When answers have color.

use std::env;

use crate::cli::arguments::Color;
use crate::cli::environment::variable;

/// `--color`, then NO_COLOR, then CLICOLOR_FORCE or FORCE_COLOR, then what the terminal can do.
pub(super) fn colored(wanted: Color, terminal: bool) -> bool {
    match wanted {
        Color::Always => true,
        Color::Never => false,
        Color::Auto if variable("NO_COLOR").is_some() => false,
        Color::Auto => {
            let forced = |name| variable(name).is_some_and(|value| value != "0");
            let able = env::var("TERM").map_or(true, |term| term != "dumb");
            forced("CLICOLOR_FORCE") || forced("FORCE_COLOR") || (terminal && able)
        }
    }
}
