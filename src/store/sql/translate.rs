//! Translates statements of SQLite to PostgreSQL. Most are written so that both accept them; what remains is here.

use std::fmt::Write;

use super::columns::next;

/// Texts to replace once parameters have numbers.
const WORDS: &[(&str, &str)] = &[
    // Row-level security hides rows of others, which have numbers and ids, too.
    (next!("runs", "position"), "(last_number('runs') + 1)"),
    (
        next!("conversations", "position"),
        "(last_number('conversations') + 1)",
    ),
    (
        next!("messages", "position"),
        "(last_number('messages') + 1)",
    ),
    (next!("events", "cursor"), "(last_number('events') + 1)"),
    (
        "SELECT max(cursor) FROM events",
        "SELECT last_number('events')",
    ),
    (
        "SELECT max(position) FROM messages",
        "SELECT last_number('messages')",
    ),
    (
        "EXISTS (SELECT 1 FROM agents WHERE id = $1)",
        "is_agent_taken($1)",
    ),
    ("CROSS JOIN", "JOIN"),
    // Hints for the planner of SQLite.
    (" INDEXED BY nodes_stuck", ""),
    (" INDEXED BY tasks_by_archive", ""),
    ("+t.archived_at", "t.archived_at"),
    // Within "C" collation it ignores the case of ASCII letters, as that of SQLite does.
    (" LIKE ", " ILIKE "),
    ("AS INTEGER", "AS BIGINT"),
    ("1 << 53", "9007199254740992"),
    ("1 << 32", "4294967296"),
    (
        "total(max(execution_time_ms, 0))",
        "coalesce(sum(greatest(execution_time_ms, 0)), 0)",
    ),
    (
        "json_group_array(needs)",
        "coalesce(json_agg(needs ORDER BY position), '[]')",
    ),
    (
        "json_group_array(label)",
        "coalesce(json_agg(label ORDER BY position), '[]')",
    ),
];

pub(super) fn translate(sql: &str) -> String {
    let mut translated = number_parameters(&leave_checksums_out(sql));
    for (from, to) in WORDS {
        if translated.contains(from) {
            translated = translated.replace(from, to);
        }
    }
    translated
}

/// Puts 0 in the place of checksums: PostgreSQL has its own.
fn leave_checksums_out(sql: &str) -> String {
    const CALL: &str = "checksum(";
    let (mut left, mut rest) = (String::with_capacity(sql.len()), sql);
    while let Some(at) = rest.find(CALL) {
        left.push_str(&rest[..at]);
        left.push('0');
        rest = &rest[at + CALL.len()..];
        rest = rest.find(')').map_or("", |end| &rest[end + 1..]);
    }
    left + rest
}

/// Writes `?N`, `?` and `:name` as `$N`. As in SQLite, one without a number has the next after all before it, and a name
/// has that of its first place.
fn number_parameters(sql: &str) -> String {
    let (mut numbered, mut names, mut last) = (String::with_capacity(sql.len()), Vec::new(), 0);
    for (at, part) in sql.split('\'').enumerate() {
        if at > 0 {
            numbered.push('\'');
        }
        if at % 2 == 1 {
            // Within quotes.
            numbered.push_str(part);
            continue;
        }
        let mut rest = part;
        while let Some(at) = rest.find(['?', ':']) {
            numbered.push_str(&rest[..at]);
            let is_name = rest[at..].starts_with(':');
            rest = &rest[at + 1..];
            let is_part =
                |c: char| c.is_ascii_digit() || is_name && (c.is_alphabetic() || c == '_');
            let end = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
            let (word, after) = rest.split_at(end);
            rest = after;
            let number = match (is_name, word.parse()) {
                (false, Ok(number)) => number,
                (false, Err(_)) => last + 1,
                (true, _) => match names.iter().find(|(name, _)| *name == word) {
                    Some((_, number)) => *number,
                    None => {
                        names.push((word, last + 1));
                        last + 1
                    }
                },
            };
            last = last.max(number);
            let _ = write!(numbered, "${number}");
        }
        numbered.push_str(rest);
    }
    numbered
}

/// Translates the statements that make the tables and indexes. The index of words is another one.
pub(in crate::store) fn translate_schema(sqlite: &str) -> String {
    let statements = sqlite.split(";\n");
    let statements = statements.filter(|text| !text.contains("CREATE VIRTUAL TABLE"));
    let schema = Vec::from_iter(statements).join(";\n");
    let words = [
        (" INTEGER", " BIGINT"),
        (" REAL", " DOUBLE PRECISION"),
        (" record TEXT", " record JSON"),
        (" TEXT", " TEXT COLLATE \"C\""),
        (" STRICT, WITHOUT ROWID", ""),
        (" STRICT", ""),
        // In SQLite each index ends with the number of the row.
        ("(rank, below DESC)", "(rank, below DESC, number)"),
    ];
    words
        .iter()
        .fold(schema, |schema, (from, to)| schema.replace(from, to))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_have_the_numbers_of_sqlite() {
        for (sqlite, postgres) in [
            (
                "a = ?1 AND b = ?3 AND c = ?",
                "a = $1 AND b = $3 AND c = $4",
            ),
            ("VALUES (?1, ?2, :a, :b, :a)", "VALUES ($1, $2, $3, $4, $3)"),
            ("x = ':a?' AND y = ?", "x = ':a?' AND y = $1"),
            (
                "n < 1 << 53, sum = checksum(a, ?1), ?2",
                "n < 9007199254740992, sum = 0, $2",
            ),
        ] {
            assert_eq!(translate(sqlite), postgres);
        }
    }
}
