//! Reads front matter as strictly as the reference validator: block style without anchors, aliases, tags and
//! directives, which is the part of YAML that strictyaml 1.7 accepts. Start at `read`.

use std::collections::HashSet;

use saphyr_parser::{Event, Marker, Parser, ScalarStyle, ScanError, Span, StrInput};

use super::Fault;
use super::fields::{Field, Fields, OPENING, Place, Value};

type Read<T> = Result<T, Fault>;

/// Maximum nesting of lists and mappings: Python 3.11 ends the reference with a `RecursionError` at one more.
const DEPTH_LIMIT: usize = 245;

const UNQUOTED: &str = "A value that contains a colon and a blank must be in quotes.";
const INDENTATION: &str = "This does not belong to the lines before it; check the indentation.";

/// Clearer texts for some messages of the parser.
const REFUSALS: [(&str, &str, &str); 3] = [
    ("mapping values are not allowed", "YAML_COLON", UNQUOTED),
    (
        "scanning a quoted scalar",
        "YAML_QUOTE",
        "The closing quote of this value is missing.",
    ),
    (" expected", "YAML_INDENTATION", INDENTATION),
];

/// Reads the text after the opening `---` of line one.
pub(super) fn read(front_matter: &str) -> Read<Fields> {
    // Python reads a text file with LF for CRLF and CR.
    let text = front_matter.replace("\r\n", "\n").replace('\r', "\n");
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let characters: Vec<char> = text.chars().collect();
    check_characters(&characters)?;
    let mut reader = Reader {
        parser: Parser::new_from_str(text),
        characters: &characters,
        end: 0,
    };
    reader.document()
}

fn check_characters(characters: &[char]) -> Read<()> {
    let is_refused = |&c: &char| {
        c.is_control() && !matches!(c, '\t' | '\n' | '\u{85}')
            || matches!(c, '\u{fffe}' | '\u{ffff}')
    };
    let Some(at) = characters.iter().position(is_refused) else {
        return Ok(());
    };
    let message = format!(
        "The character U+{:04X} is not allowed.",
        u32::from(characters[at])
    );
    Err(Fault::new(
        "YAML_CHARACTER",
        place_of(characters, at),
        message,
    ))
}

/// Returns the place in the file of the character `at` of the front matter.
fn place_of(characters: &[char], at: usize) -> Place {
    let before = &characters[..at.min(characters.len())];
    let line = before.iter().filter(|&&c| c == '\n').count() + 1;
    let column = before.iter().rev().take_while(|&&c| c != '\n').count();
    position_in_file(&Marker::new(at, line, column))
}

fn position_in_file(marker: &Marker) -> Place {
    let opening = if marker.line() == 1 { OPENING } else { 0 };
    (marker.line(), marker.col() + opening + 1)
}

fn fault(span: Span, code: &'static str, message: impl Into<String>) -> Fault {
    Fault::new(code, position_in_file(&span.start), message)
}

struct Reader<'a> {
    parser: Parser<'a, StrInput<'a>>,
    characters: &'a [char],
    /// The index of the character after the last scalar.
    end: usize,
}

impl<'a> Reader<'a> {
    fn document(&mut self) -> Read<Fields> {
        let (mut event, mut span) = self.next()?;
        while matches!(event, Event::StreamStart | Event::DocumentStart(_)) {
            (event, span) = self.next()?;
        }
        let Event::MappingStart(..) = event else {
            let message = "The front matter must be keys and values.";
            return Err(fault(span, "YAML_NOT_MAPPING", message));
        };
        let fields = self.mapping(1)?;
        while !matches!(event, Event::StreamEnd) {
            (event, span) = self.next()?;
            if let Event::DocumentStart(_) = event {
                let message = "The front matter must be exactly one document.";
                return Err(fault(span, "YAML_SEVERAL_DOCUMENTS", message));
            }
        }
        self.check_tabs(self.characters.len())?;
        Ok(fields)
    }

    /// Returns the next event, unless it is of the parts of YAML that strictyaml refuses.
    fn next(&mut self) -> Read<(Event<'a>, Span)> {
        let end = Ok((Event::StreamEnd, Span::default()));
        let (event, span) = self
            .parser
            .next_event()
            .unwrap_or(end)
            .map_err(|error| self.to_fault(&error))?;
        let (anchor, tag) = match &event {
            Event::Scalar(_, _, anchor, tag) => (*anchor, tag),
            Event::SequenceStart(anchor, tag) | Event::MappingStart(anchor, tag) => (*anchor, tag),
            _ => (0, &None),
        };
        let is_start = matches!(event, Event::SequenceStart(..) | Event::MappingStart(..));
        let refusal = match self.characters.get(span.start.index()) {
            _ if anchor != 0 => (
                "YAML_ANCHOR",
                "Anchors are not allowed; quote text that begins with `&`.",
            ),
            _ if tag.is_some() => (
                "YAML_TAG",
                "Tags are not allowed; quote text that begins with `!`.",
            ),
            _ if matches!(event, Event::Alias(_)) => (
                "YAML_ALIAS",
                "Aliases are not allowed; quote text that begins with `*`.",
            ),
            Some('[' | '{') if is_start => (
                "YAML_FLOW_STYLE",
                "Flow style is not allowed; write one item per line.",
            ),
            _ => {
                self.check_scalar(&event, span)?;
                return Ok((event, span));
            }
        };
        Err(fault(span, refusal.0, refusal.1))
    }

    /// Refuses tabs before and in unquoted text, which YAML 1.2 allows and the reference does not.
    fn check_scalar(&mut self, event: &Event<'_>, span: Span) -> Read<()> {
        let Event::Scalar(_, style, ..) = event else {
            return Ok(());
        };
        self.check_tabs(span.start.index())?;
        if *style != ScalarStyle::Plain {
            self.end = span.end.index();
        }
        self.check_tabs(span.end.index())
    }

    /// Refuses tabs from the last scalar up to `end`, outside of comments.
    fn check_tabs(&mut self, end: usize) -> Read<()> {
        let end = end.min(self.characters.len()).max(self.end);
        let mut is_comment = false;
        for at in self.end..end {
            match self.characters[at] {
                '\n' => is_comment = false,
                '#' if at == self.end || self.characters[at - 1].is_whitespace() => {
                    is_comment = true
                }
                '\t' if !is_comment => {
                    let message = "A tab cannot separate or indent here; use spaces.";
                    return Err(Fault::new(
                        "YAML_TAB",
                        place_of(self.characters, at),
                        message,
                    ));
                }
                _ => {}
            }
        }
        self.end = end;
        Ok(())
    }

    fn to_fault(&self, error: &ScanError) -> Fault {
        let is_text = |c: &char| !c.is_whitespace();
        let last = self.characters.iter().rposition(is_text).unwrap_or(0);
        let place = match error.marker().index() > last {
            // A fault at the end of the text belongs to the last line.
            true => {
                let line = self.characters[..last].iter().rposition(|c| *c == '\n');
                place_of(self.characters, line.map_or(0, |end| end + 1))
            }
            false => position_in_file(error.marker()),
        };
        let known = REFUSALS
            .iter()
            .find(|(part, ..)| error.info().contains(part));
        match known {
            Some((_, code, message)) => Fault::new(code, place, *message),
            None => {
                let message = format!("The front matter is not YAML: {}.", error.info());
                Fault::new("YAML_SYNTAX", place, message)
            }
        }
    }

    fn value(&mut self, (event, span): (Event<'a>, Span), depth: usize) -> Read<Value> {
        if depth > DEPTH_LIMIT {
            let message = format!("Values may be nested at most {DEPTH_LIMIT} deep.");
            return Err(fault(span, "YAML_DEPTH", message));
        }
        match event {
            Event::Scalar(text, style, ..) => Ok(Value::Text {
                text: text.into_owned(),
                is_plain: style == ScalarStyle::Plain,
            }),
            Event::MappingStart(..) => Ok(Value::Mapping(self.mapping(depth + 1)?)),
            _ => Ok(Value::List(self.sequence(depth + 1)?)),
        }
    }

    fn sequence(&mut self, depth: usize) -> Read<Vec<Value>> {
        let mut items = Vec::new();
        loop {
            match self.next()? {
                (Event::SequenceEnd, _) => return Ok(items),
                item => items.push(self.value(item, depth)?),
            }
        }
    }

    fn mapping(&mut self, depth: usize) -> Read<Fields> {
        let (mut fields, mut seen) = (Vec::new(), HashSet::new());
        let mut block = None;
        loop {
            let (event, span) = self.next()?;
            let (name, style) = match event {
                Event::MappingEnd => return Ok(Fields(fields)),
                Event::Scalar(name, style, ..) => (name.into_owned(), style),
                _ => {
                    let message = "A key must be text, not a list or a mapping.";
                    return Err(fault(span, "YAML_COMPLEX_KEY", message));
                }
            };
            if name == "<<" && style == ScalarStyle::Plain {
                let message = "A merge key needs an anchor, which is not allowed.";
                return Err(fault(span, "YAML_MERGE", message));
            }
            if !seen.insert(name.clone()) {
                let message = format!("The key `{name}` is duplicate.");
                return Err(fault(span, "YAML_DUPLICATE_KEY", message));
            }
            let value = self.next()?;
            let value_span = value.1;
            let value = self.value(value, depth)?;
            // Strictyaml wants all mappings that are values of one mapping to start in the same column.
            let column = value_span.start.col();
            if matches!(value, Value::Mapping(_)) && *block.get_or_insert(column) != column {
                let message = "Indent this block as far as the blocks before it.";
                return Err(fault(value_span, "YAML_INDENTATION", message));
            }
            fields.push(Field {
                name,
                place: position_in_file(&span.start),
                value,
                value_place: position_in_file(&value_span.start),
            });
        }
    }
}
