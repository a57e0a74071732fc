//! Tests of text for people.

use super::*;

#[test]
fn nothing_from_attacker_reaches_terminal_as_command() {
    for (text, shown) in [
        ("plain & ünïcode", "plain & ünïcode"),
        ("a\u{1b}[31mb", "a\\u{1b}[31mb"),
        ("a\nb\r\0", "a\\nb\\r\\u{0}"),
        ("x\u{202e}y", "x\\u{202e}y"),
        ("\u{9b}2J", "\\u{9b}2J"),
        ("\u{61c}\u{200b}\u{200c}", "\\u{61c}\\u{200b}\\u{200c}"),
        (
            "می\u{200c}خواهم 👨\u{200d}👧 क्\u{200d}ष",
            "می\u{200c}خواهم 👨\u{200d}👧 क्\u{200d}ष",
        ),
        (
            "a\u{200c}b \u{200d}\u{200d}",
            "a\\u{200c}b \\u{200d}\\u{200d}",
        ),
        ("\u{200d}\u{2028}\u{2029}", "\\u{200d}\\u{2028}\\u{2029}"),
        ("\u{2060}\u{feff}", "\\u{2060}\\u{feff}"),
        (
            "\u{e0000}\u{e0041}\u{e007f}",
            "\\u{e0000}\\u{e0041}\\u{e007f}",
        ),
    ] {
        assert_eq!(clean(text), shown);
    }
}

#[test]
fn line_is_cut_where_terminal_ends() {
    let mut screen = Screen::new(false);
    screen.width = 10;
    screen.cut(&["ab ", "日本語日本語", "x"].map(plain));
    screen.cut(&["ab ", "日本語"].map(plain));
    assert_eq!(screen.finish(), "ab 日本…\nab 日本語\n");
}

#[test]
fn list_has_one_line_each_on_a_terminal() {
    let rows = [["T1", "A title of several words that is long"].map(plain)];
    for (is_terminal, expected) in [
        (true, "ID  TITLE\nT1  A title of several words that is…\n"),
        (
            false,
            "ID  TITLE\nT1  A title of several words that is\n    long\n",
        ),
    ] {
        let mut screen = Screen::new(false);
        (screen.width, screen.is_terminal) = (40, is_terminal);
        screen.list("none", &["ID", "TITLE"], &rows);
        assert_eq!(screen.finish(), expected);
    }
}

#[test]
fn id_is_not_broken_where_message_can_be() {
    let mut screen = Screen::new(false);
    screen.width = 60;
    let id = "run_1769418000000_12345";
    let row = [
        "completed",
        "toby-technical",
        "-",
        "offline, 12 ms",
        "A message of some words",
    ];
    let row = [id].into_iter().chain(row);
    let row: Vec<Cell> = row.map(plain).collect();
    screen.rows(
        &["RUN", "STATUS", "AGENT", "SCORE", "HOW", "MESSAGE"],
        vec![row],
    );
    let text = screen.finish();
    assert!(text.contains(id), "{text}");
}

#[test]
fn color_is_only_there_when_asked_for() {
    let mut plain = Screen::new(false);
    plain.line(Tone::Bad, "x");
    assert_eq!(plain.finish(), "x\n");
    let mut colored = Screen::new(true);
    colored.line(Tone::Bad, "x\u{1b}");
    let text = colored.finish();
    assert!(
        text.starts_with("\u{1b}[") && text.contains("x\\u{1b}"),
        "{text:?}"
    );
}
