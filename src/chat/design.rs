//! The design agent: shows a design and changes what of it can be changed.

mod apart;
mod several;
mod values;

use serde_json::{Map, Value};

use self::several::{all_wanted, is_whole, left_out};
pub(super) use self::values::{answer, mentions};
use self::values::{option, options, unsure, value};
use super::message::{SEAM, parts};
use super::pending::{Ask, Pending, PendingKind};
use super::request::Request;
use super::value::{element, plain};
use super::vocabulary::{ADVICE, ELEMENTS, Element, NEVER, QUESTIONS, Verb};
use super::{Call, ChatAgent, Saying, Step, Tool, Wait, args, editor, fault, text};

const AGENT: ChatAgent = ChatAgent::Design;

/// Finds the parts of a design that words name in full.
pub(super) fn named(words: &[String]) -> Vec<&'static Element> {
    let full = ELEMENTS.iter().filter(|element| {
        element.words.len() > 1
            && share(element, words) == (element.words.len(), element.words.len())
    });
    full.collect()
}

/// Returns how many of its groups of words name an element, and how many there are.
fn share(element: &Element, words: &[String]) -> (usize, usize) {
    let named = element.words.iter().filter(|group| {
        group
            .iter()
            .any(|word| words.iter().any(|there| there == word))
    });
    (named.count(), element.words.len())
}

/// Finds the parts of a design that words name best, and whether they name them in full.
fn best(words: &[String]) -> (Vec<&'static Element>, bool) {
    let shares = ELEMENTS
        .iter()
        .filter(|element| element.offered)
        .map(|element| {
            let (part, whole) = share(element, words);
            (part * 60 / whole, element)
        });
    let shares: Vec<_> = shares.filter(|(share, _)| *share > 0).collect();
    let most = shares.iter().map(|(share, _)| *share).max().unwrap_or(0);
    let best = shares.iter().filter(|(share, _)| *share == most);
    let best: Vec<_> = best.map(|(_, element)| *element).collect();
    let is_full = most == 60;
    let exact = best
        .iter()
        .copied()
        .filter(|element| !is_full || !is_within(element, &best));
    (exact.collect(), is_full)
}

/// Says whether all words of an element name another one too, which more words name: the background
/// of the desktop within its gradient.
fn is_within(element: &Element, others: &[&Element]) -> bool {
    let has = |other: &Element| {
        element
            .words
            .iter()
            .all(|group| other.words.contains(group))
    };
    let mut others = others
        .iter()
        .filter(|other| other.words.len() > element.words.len());
    others.any(|other| has(other))
}

/// Says what happens next.
pub(super) fn next(request: &Request, results: &[Value]) -> Step {
    let Some(client) = &request.client else {
        return Step::Say(editor::ask_client(AGENT, request));
    };
    let has_option = ELEMENTS
        .iter()
        .any(|element| option(element, &request.words).is_some());
    let is_change = match request.verb {
        Some(Verb::Read) => false,
        Some(_) => !request.asks_about_doing(),
        None => (has_option || request.has(NEVER)) && !request.has(ADVICE) && !only_asks(request),
    };
    if !is_change {
        return seen(client, results, |design, answers| {
            Saying::new(AGENT, shown(client, design, answers))
        });
    }
    match all_wanted(request) {
        Ok((updates, left)) => seen(client, results, |design, answers| {
            let saying = offer(client, &updates, design, answers);
            Saying {
                text: saying.text + &left_out(&left),
                ..saying
            }
        }),
        Err(saying) => Step::Say(*saying),
    }
}

/// Says whether a text is a change by itself: it names what of a design is to become what.
pub(super) fn is_change(text: &str) -> bool {
    is_whole(&Request::read(text, None))
}

/// Says whether a message without a verb is a question: "is the button radius full?"
fn only_asks(request: &Request) -> bool {
    let mut words = request.words.iter().map(String::as_str);
    let is_asked = words.next().is_some_and(|first| QUESTIONS.contains(&first));
    is_asked && words.next() != Some("about")
}

/// Reads the design and the answers of the client before it says something about them.
fn seen(client: &str, results: &[Value], say: impl FnOnce(&Value, &Value) -> Saying) -> Step {
    let call = |tool| {
        Step::Call(Call {
            tool,
            args: args([("clientId", client.into())]),
        })
    };
    match results {
        [] => call(Tool::GetClientDesign),
        [design, ..] if fault(design).is_some() => {
            Step::Say(Saying::new(AGENT, fault(design).unwrap_or_default()))
        }
        [_] => call(Tool::GetQa),
        [design, answers, ..] => Step::Say(say(design, answers)),
    }
}

/// Finds the changes that are wanted; else says what is missing or wrong.
fn wanted(request: &Request) -> Result<Map<String, Value>, Box<Saying>> {
    let say = |text: String| Box::new(Saying::new(AGENT, text));
    let mut head = request.head.iter();
    let never = || head.find(|word| NEVER.contains(&word.as_str()));
    if let Some(word) = request.effect.as_ref().or_else(never) {
        return Err(say(format!("I cannot change {word}. {}", menu())));
    }
    if let Some(label) = only_shown(&request.head) {
        let text = format!(
            "The {label} is shown, but cannot be changed here. {}",
            menu()
        );
        return Err(say(text));
    }
    let apart = apart(request).map(|elements| (elements, true));
    let (mut elements, is_full) = apart.unwrap_or_else(|| best(&request.head));
    if elements.len() > 1 && request.has(&["instead", "rather"]) {
        return Err(say(
            "I am not sure which of them is to change. Nothing was changed. Please name only what is to become \
             what."
                .to_string(),
        ));
    }
    if !is_full && elements.len() > 1 {
        let fitting = |element: &&Element| option(element, &request.words).is_some();
        let fitting: Vec<_> = elements.iter().copied().filter(fitting).collect();
        if fitting.len() == 1 {
            elements = fitting;
        }
    }
    match elements.as_slice() {
        [] => {
            return Err(say(format!(
                "I found nothing in that which I can change. {}",
                menu()
            )));
        }
        [_] => {}
        _ if is_full => {}
        many => return Err(Box::new(which(request, many))),
    }
    let doubt = unsure(&request.head).or_else(|| doubt(request, &elements));
    if let Some(doubt) = doubt {
        return Err(say(doubt));
    }
    let mut updates = Map::new();
    for element in elements {
        let value = value(request, element).map_err(Box::new)?;
        updates.insert(element.key.to_string(), value);
    }
    Ok(updates)
}

/// Finds the parts of a design that a request without values names one by one: "button radius and card
/// style", which name no card radius.
fn apart(request: &Request) -> Option<Vec<&'static Element>> {
    let text = request.message.split(SEAM).next()?;
    let places = parts(text);
    let is_open = request.value.is_none() && places.len() > 1;
    let mut elements = Vec::new();
    for place in places.into_iter().filter(|_| is_open) {
        let part = Request::read(&text[place], None);
        let (named, is_full) = best(&part.words);
        let [one] = named.as_slice() else { return None };
        let has_option = option(one, &part.words).is_some();
        if !is_full || has_option {
            return None;
        }
        elements.push(*one);
    }
    (!elements.is_empty()).then_some(elements)
}

/// Says that it is not told what a part is to become, where several options fit it.
fn doubt(request: &Request, elements: &[&'static Element]) -> Option<String> {
    let is_open = |element: &&&Element| !request.given.contains_key(element.key);
    let mut open = elements
        .iter()
        .filter(|element| is_open(element) && request.value.is_none());
    let (label, first, other) = open.find_map(|element| {
        let mut fitting = options(element, &request.words).into_iter();
        let (_, first) = fitting.next()?;
        let (_, other) = fitting.find(|(_, other)| *other != first)?;
        Some((element.label, first, other))
    })?;
    Some(format!(
        "I cannot tell whether the {label} is to become {first} or {other}. Nothing was changed. \
         Please say it with one of them, and several changes with \"and\" between them."
    ))
}

/// Finds a part of the design that is named and shown, but that the chat does not change.
fn only_shown(words: &[String]) -> Option<&'static str> {
    let is_palette = |word: &String| word.contains("palette") || word.contains("palate");
    if words.iter().any(is_palette) {
        return Some("color palette");
    }
    let named = named(words);
    let first = named
        .first()
        .filter(|_| named.iter().all(|element| !element.offered))?;
    Some(first.label)
}

fn ask(request: &Request, options: Vec<String>) -> Wait {
    Wait::Ask(Ask {
        message: request.message.clone(),
        options,
        ..Ask::default()
    })
}

/// Asks which of several parts is meant.
fn which(request: &Request, many: &[&'static Element]) -> Saying {
    let lines = many.iter().enumerate().map(|(index, element)| {
        let (column, field) = element.path;
        format!(
            "{}. {} ({column}.{field}): {}",
            index + 1,
            element.label,
            element.kind
        )
    });
    let text = format!(
        "That can mean several fields of the design:\n{}\nWhich one do you mean?",
        lines.collect::<Vec<_>>().join("\n")
    );
    let options = many
        .iter()
        .map(|element| element.label.to_string())
        .collect();
    Saying::new(AGENT, text).waiting(ask(request, options))
}

/// Lists everything that can be changed.
fn menu() -> String {
    let offered = ELEMENTS.iter().filter(|element| element.offered);
    let lines = offered.map(|element| format!("- {}: {}", element.label, element.kind));
    format!("You can change:\n{}", lines.collect::<Vec<_>>().join("\n"))
}

/// Restates a change with what is known of the client, and asks for a yes.
fn offer(client: &str, updates: &Map<String, Value>, design: &Value, answers: &Value) -> Saying {
    let now = |key: &str| {
        let (column, field) = element(key)?.path;
        design.get(column)?.get(field)
    };
    if updates.iter().all(|(key, value)| now(key) == Some(value)) {
        let text = format!(
            "That is so already: {}. Nothing was changed.",
            restated(updates)
        );
        return Saying::new(AGENT, text);
    }
    let before = updates.keys().filter_map(|key| {
        let value = now(key).map_or_else(|| "not set".to_string(), plain);
        Some(format!("{} is {value} now", element(key)?.label))
    });
    let text = format!(
        "You want to change {}. Should I proceed?\nFor client {client}: {}.{}",
        restated(updates),
        before.collect::<Vec<_>>().join("; "),
        answered(answers)
    );
    let args = args([
        ("clientId", client.into()),
        ("designUpdates", Value::Object(updates.clone())),
    ]);
    let call = Call {
        tool: Tool::UpdateDesign,
        args,
    };
    let pending = Pending::new(PendingKind::Confirm, AGENT, call);
    Saying::new(AGENT, text).waiting(Wait::Pending(Box::new(pending)))
}

/// Asks again about a change that waited, after the design has changed.
pub(super) fn again(pending: &Pending, results: &[Value], note: &str) -> Step {
    let updates = pending.args.get("designUpdates").and_then(Value::as_object);
    let updates = updates.cloned().unwrap_or_default();
    let client = text(&pending.args, "clientId");
    seen(client, results, |design, answers| {
        let saying = offer(client, &updates, design, answers);
        Saying {
            text: format!("{note}{}", saying.text),
            ..saying
        }
    })
}

/// Writes changes as `the Button Radius to full`.
pub(super) fn restated(updates: &Map<String, Value>) -> String {
    let parts = updates.iter().map(|(key, value)| {
        let label = element(key).map_or(key.as_str(), |element| element.label);
        format!("the {} to {}", titled(label), plain(value))
    });
    parts.collect::<Vec<_>>().join(" and ")
}

fn titled(label: &str) -> String {
    let words = label.split(' ').map(|word| {
        let (first, rest) = word.split_at(word.len().min(1));
        first.to_uppercase() + rest
    });
    words.collect::<Vec<_>>().join(" ")
}

fn answered(answers: &Value) -> String {
    let answers = answers.get("answers").and_then(Value::as_array);
    let lines = answers.into_iter().flatten().map(|answer| {
        let object = answer.as_object();
        let question = object.map_or("", |object| text(object, "question"));
        let chosen = answer.get("chosen_options").and_then(Value::as_array);
        let chosen: Vec<String> = chosen.into_iter().flatten().map(plain).collect();
        format!("\n- {question} {}", chosen.join(", "))
    });
    let lines: String = lines.collect();
    match lines.is_empty() {
        true => String::new(),
        false => format!("\nOnboarding answers:{lines}"),
    }
}

/// Writes a design with everything that is set.
fn shown(client: &str, design: &Value, answers: &Value) -> String {
    let mut lines = vec![format!("The design of client {client}:")];
    for (column, fields) in design.as_object().into_iter().flatten() {
        match fields {
            Value::Object(fields) => lines.extend(
                fields
                    .iter()
                    .map(|(field, value)| format!("- {}: {}", name(column, field), plain(value))),
            ),
            Value::String(value) if column.ends_with("Url") => {
                lines.push(format!("- {column}: {value}"))
            }
            _ => {}
        }
    }
    lines.join("\n") + &answered(answers)
}

fn name(column: &str, field: &str) -> String {
    let known = ELEMENTS
        .iter()
        .find(|element| element.path == (column, field));
    known.map_or_else(
        || format!("{column}.{field}"),
        |element| element.label.to_string(),
    )
}
