//! What changes between two texts, for people to look at before it happens.

/// Lines around a change that are shown with it.
const AROUND: usize = 2;

/// Shows the lines that differ, each behind `-` or `+`, with a few lines around them. Everything
/// between the first and the last difference counts as one change, which is enough for files
/// where one place changes.
pub fn diff(old: &str, new: &str) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let start = same(old.iter().zip(&new));
    let rest = old.len().min(new.len()) - start;
    let end = same(old.iter().rev().zip(new.iter().rev())).min(rest);
    let before = &old[start.saturating_sub(AROUND)..start];
    let after = &old[old.len() - end..][..end.min(AROUND)];
    let mut shown = String::new();
    for (sign, lines) in [
        (' ', before),
        ('-', &old[start..old.len() - end]),
        ('+', &new[start..new.len() - end]),
        (' ', after),
    ] {
        for line in lines {
            shown.push(sign);
            shown.push_str(line);
            shown.push('\n');
        }
    }
    shown
}

fn same<'a>(pairs: impl Iterator<Item = (&'a &'a str, &'a &'a str)>) -> usize {
    pairs.take_while(|(a, b)| a == b).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_differs_is_shown_with_little_around_it() {
        for (old, new, shown) in [
            ("", "a\nb\n", "+a\n+b\n"),
            (
                "1\n2\n3\na\n4\n5\n6\n",
                "1\n2\n3\nb\n4\n5\n6\n",
                " 2\n 3\n-a\n+b\n 4\n 5\n",
            ),
            ("a\n", "a\na\n", " a\n+a\n"),
            ("a\n", "a\n", " a\n"),
        ] {
            assert_eq!(diff(old, new), shown);
        }
    }
}
