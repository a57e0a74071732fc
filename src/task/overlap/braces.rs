//! Braces in patterns: one text of several.

/// Most patterns that one text with braces is taken apart into.
const ALTERNATIVES_MAX: usize = 64;

/// Takes a text with braces apart: `a{b,c}` means `ab` and `ac`. With too many of them, or braces
/// that do not fit, everything from the first on can be anything.
pub(super) fn alternatives(text: &str) -> Vec<String> {
    let (mut done, mut left) = (Vec::new(), vec![text.to_string()]);
    while let Some(text) = left.pop() {
        match first_braces(&text) {
            None => done.push(text),
            Some((start, end)) => {
                let (before, after) = (&text[..start], &text[end + 1..]);
                for choice in choices(&text[start + 1..end]) {
                    left.push(format!("{before}{choice}{after}"));
                }
            }
        }
        if left.len() + done.len() > ALTERNATIVES_MAX {
            return vec!["**".to_string()];
        }
    }
    // Braces that are left over fit nothing and may be meant as they stand, or not.
    let is_odd = |text: &String| text.contains(['{', '}']);
    done.into_iter()
        .map(|text| {
            if is_odd(&text) {
                "**".to_string()
            } else {
                text
            }
        })
        .collect()
}

/// Finds the first braces that fit, by the places of both.
fn first_braces(text: &str) -> Option<(usize, usize)> {
    let start = text.find('{')?;
    let mut depth = 0_u32;
    for (at, letter) in text[start..].char_indices() {
        match letter {
            '{' => depth += 1,
            '}' if depth == 1 => return Some((start, start + at)),
            '}' => depth -= 1,
            _ => {}
        }
    }
    None
}

/// Splits what stands between braces at its own commas.
fn choices(text: &str) -> Vec<&str> {
    let (mut depth, mut from, mut choices) = (0_u32, 0, Vec::new());
    for (at, letter) in text.char_indices() {
        match letter {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                choices.push(&text[from..at]);
                from = at + 1;
            }
            _ => {}
        }
    }
    choices.push(&text[from..]);
    choices
}
