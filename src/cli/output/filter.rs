//! Parses and runs filters.

use std::io::{self, Write};

use jaq_core::data::JustLut;
use jaq_core::load::lex::StrPart;
use jaq_core::load::parse::{BinaryOp, Def, Term};
use jaq_core::load::{self, Arena, File, Loader};
use jaq_core::path::Part;
use jaq_core::{Compiler, Ctx, Exn, Filter, Vars};
use jaq_json::{Num, Val, read};

/// Filters of jq that the library does not have: texts of numbers that JSON has, rows for spreadsheets and shells.
const OWN: &str = r#"
def finite_json: (.. |= if isnumber | not then . elif isnan then null elif isinfinite then
    if . > 0 then 1.7976931348623157e308 else -1.7976931348623157e308 end else . end) | tojson;
def tojson: finite_json;
def tostring: if isstring then . else tojson end;
def @json: tojson;
def @text: tostring;
def @csv: [.[] | if type == "string" then "\"" + (split("\"") | join("\"\"")) + "\""
    elif tojson == "null" then "" else tostring end] | join(",");
def @tsv: [.[] | if type == "string" then split("\\") | join("\\\\") | split("\t") | join("\\t")
    | split("\n") | join("\\n") | split("\r") | join("\\r")
    elif tojson == "null" then "" else tostring end] | join("\t");
"#;

/// Maximum length of a path that is parsed without a stack limit, in bytes.
const PATH_MAX: usize = 256;

/// Compiles a filter that is only a path, such as `.result.tasks[].id`: its time and memory are
/// bounded by its input.
pub(super) fn compile_path(code: &str) -> Option<Filter<JustLut<Val>>> {
    let is_short = code.len() <= PATH_MAX;
    let term = is_short.then(|| load::parse(code, |parser| parser.term()))??;
    is_path(&term).then(|| compile_with([], code).ok())?
}

fn is_path(term: &Term<&str>) -> bool {
    let is_literal = |index: &Term<&str>| match index {
        Term::Num(_) => true,
        Term::Str(None, parts) => parts.iter().all(|part| matches!(part, StrPart::Str(_))),
        _ => false,
    };
    match term {
        Term::Id => true,
        Term::BinOp(first, BinaryOp::Pipe(None), then) => is_path(first) && is_path(then),
        Term::Path(from, path) => {
            let is_plain = |part: &Part<Term<&str>>| match part {
                Part::Index(index) => is_literal(index),
                Part::Range(from, to) => from.is_none() && to.is_none(),
            };
            is_path(from) && path.0.iter().all(|(part, _)| is_plain(part))
        }
        _ => false,
    }
}

/// Parses a filter; an invalid one is refused with the position.
pub(super) fn compile(code: &str) -> Result<Filter<JustLut<Val>>, String> {
    let own = load::parse(OWN, |parser| parser.defs()).unwrap_or_default();
    let definitions = jaq_core::defs()
        .chain(jaq_std::defs())
        .chain(jaq_json::defs())
        .chain(own);
    compile_with(definitions, code)
}

fn compile_with(
    definitions: impl IntoIterator<Item = Def<&'static str>>,
    code: &str,
) -> Result<Filter<JustLut<Val>>, String> {
    let functions = jaq_core::funs()
        .chain(jaq_std::funs())
        .chain(jaq_json::funs());
    let arena = Arena::default();
    let modules = Loader::new(definitions)
        .load(&arena, File { code, path: () })
        .and_then(|modules| {
            load::import(&modules, |_| Err(String::new()))?;
            Ok(modules)
        })
        .map_err(|faults| describe_fault(find_syntax_fault(code, &faults)))?;
    let filter = Compiler::default().with_funs(functions).compile(modules);
    filter.map_err(|faults| {
        let first = faults.first().and_then(|(_, faults)| faults.first());
        describe_fault(first.map(|(name, what)| {
            let message = format!("there is no {} `{name}`", what.as_str());
            (place(code, name), message)
        }))
    })
}

/// Passes each value that the filter makes of a JSON document to `out`, one per line, up to a
/// failure.
pub(super) fn run(
    filter: &Filter<JustLut<Val>>,
    json: &[u8],
    mut out: impl FnMut(&[u8]) -> io::Result<()>,
) -> Result<(), String> {
    let input = read::parse_single(json).map_err(|cause| cause.to_string())?;
    let context = Ctx::<JustLut<Val>>::new(&filter.lut, Vars::new([]));
    for found in filter.id.run((context, input)) {
        match found {
            Ok(found) => {
                let mut text = Vec::new();
                let written = line(&mut text, &found).and_then(|()| out(&text));
                written.map_err(|cause| cause.to_string())?;
            }
            Err(cause) => return judge_end(cause),
        }
    }
    Ok(())
}

/// Returns the error of a filter that stopped early. It cannot choose the exit code of cleo.
fn judge_end(cause: Exn<'_, Val>) -> Result<(), String> {
    match cause.get_halt() {
        Ok(0) => Ok(()),
        Ok(code) => Err(format!("it halted with {code}")),
        Err(cause) => Err(match cause.get_err() {
            Ok(error) => error.to_string(),
            Err(_) => "it broke off".to_string(),
        }),
    }
}

fn line(out: &mut Vec<u8>, found: &Val) -> io::Result<()> {
    match found {
        Val::TStr(text) => writeln!(out, "{}", String::from_utf8_lossy(text)),
        other => writeln!(out, "{}", make_finite(other)),
    }
}

/// Returns a value with numbers that JSON has: as in jq, null for what is no number, and the largest for infinity.
fn make_finite(value: &Val) -> Val {
    match value {
        Val::Num(Num::Float(number)) if number.is_nan() => Val::Null,
        Val::Num(Num::Float(number)) => Val::Num(Num::Float(number.clamp(f64::MIN, f64::MAX))),
        Val::Arr(items) => items.iter().map(make_finite).collect(),
        Val::Obj(fields) => {
            let fields = fields
                .iter()
                .map(|(name, value)| (name.clone(), make_finite(value)));
            Val::obj(fields.collect())
        }
        other => other.clone(),
    }
}

/// Position of an error, in characters from the start, and its message.
type Fault = (usize, String);

fn find_syntax_fault(code: &str, faults: &load::Errors<&str, ()>) -> Option<Fault> {
    let (_, error) = faults.first()?;
    let (expected, found) = match error {
        load::Error::Io(_) => return Some((1, "modules cannot be imported".to_string())),
        load::Error::Lex(faults) => faults.first().map(|(want, found)| (want.as_str(), *found)),
        load::Error::Parse(faults) => faults.first().map(|(want, found)| (want.as_str(), *found)),
    }?;
    let found_shown: String = found.chars().take(20).collect();
    let instead = match found_shown.as_str() {
        "" => "the end".to_string(),
        text => format!("`{text}`"),
    };
    Some((
        place(code, found),
        format!("expected {expected} instead of {instead}"),
    ))
}

/// Returns the position of a part of the filter, from 1.
fn place(code: &str, part: &str) -> usize {
    let start = (part.as_ptr() as usize).wrapping_sub(code.as_ptr() as usize);
    // A part outside of the filter's text means its end.
    let before = code.get(..start).unwrap_or(code);
    before.chars().count() + 1
}

fn describe_fault(fault: Option<Fault>) -> String {
    let (at, what) = fault.unwrap_or((1, "it cannot be read".to_string()));
    format!("at character {at}: {what}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(code: &str, json: &str) -> String {
        let mut out = Vec::new();
        let done = run(&compile(code).unwrap(), json.as_bytes(), |text| {
            out.extend_from_slice(text);
            Ok(())
        });
        let text = String::from_utf8(out).unwrap();
        match done {
            Ok(()) => text,
            Err(message) => format!("{text}failed: {message}\n"),
        }
    }

    #[test]
    fn text_is_raw_and_everything_else_is_json() {
        let json = r#"{"b":[{"id":"T1"},{"id":"T\n2"}],"a":{"z":1.50,"y":null}}"#;
        assert_eq!(result(".b[].id", json), "T1\nT\n2\n");
        let odd = "[nan, infinite, -infinite, {a: nan}]";
        let largest = "1.7976931348623157e308";
        let expected = format!("[null,{largest},-{largest},{{\"a\":null}}]\n");
        assert_eq!(result(odd, json), expected);
        for code in ["tojson", "@json", "tostring", "@text"] {
            assert_eq!(result(&format!("{odd} | {code}"), json), expected, "{code}");
        }
        assert_eq!(
            result("[nan, 1.50, null, \"a\"] | @csv", json),
            ",1.50,,\"a\"\n"
        );
        assert_eq!(
            result(".a, .b[0]", json),
            "{\"z\":1.50,\"y\":null}\n{\"id\":\"T1\"}\n"
        );
        assert_eq!(result("empty", json), "");
        assert_eq!(
            result("[.b[] | .id | ascii_downcase] | @csv", json),
            "\"t1\",\"t\n2\"\n"
        );
    }

    #[test]
    fn only_path_is_followed_without_process() {
        for (code, is_plain) in [
            (".", true),
            (".result.tasks[].id", true),
            (".a[0].\"b c\"?|.[]|.[\"d\"]", true),
            ("..", false),
            (".a, .b", false),
            (".[.a]", false),
            (".[1:]", false),
            (". as $x | .a", false),
            (".\"a\\(.b)\"", false),
            ("[.a]", false),
            (".a | length", false),
            ("def f: f; f", false),
            (".a[", false),
            (&".[]".repeat(100), false),
        ] {
            assert_eq!(compile_path(code).is_some(), is_plain, "{code}");
        }
        let path = compile_path(".a[].b?").unwrap();
        let mut out = Vec::new();
        let json = br#"{"a":[{"b":"x\ny"},1,{"b":{"c":1.50}}]}"#;
        run(&path, json, |text| out.write_all(text)).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), "x\ny\n{\"c\":1.50}\n");
    }

    #[test]
    fn filter_that_fails_says_why_after_what_it_found() {
        let found = result(".a, .b.c", r#"{"a":1,"b":[]}"#);
        assert!(found.starts_with("1\nfailed: "), "{found}");
    }

    #[test]
    fn filter_does_not_choose_exit_code() {
        for (code, found) in [
            ("1, halt, 2", "1\n"),
            ("1, halt(70), 2", "1\nfailed: it halted with 70\n"),
            ("halt_error", "failed: it halted with 5\n"),
        ] {
            assert_eq!(result(code, "{}"), found, "{code}");
        }
    }

    #[test]
    fn faulty_filter_is_refused_with_place() {
        for (code, at) in [
            (".a | nope", 6),
            (".a[", 4),
            ("\"é\" | (", 8),
            ("", 1),
            (". | $x", 5),
            ("import \"x\" as $x; $x", 1),
            ("include \"x\"; .", 1),
        ] {
            let refused = compile(code).err().unwrap();
            let place = format!("at character {at}:");
            assert!(refused.starts_with(&place), "{code}: {refused}");
        }
    }
}
