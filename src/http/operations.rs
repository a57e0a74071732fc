//! Serves the operations of the table: path segments, query and body form the request.

use axum::http::header::{ETAG, IF_MATCH, IF_NONE_MATCH};
use axum::http::{Method, StatusCode};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::answer::{Answer, JSON, json};
use super::call::{Call, NAME_MAX, limit_within};
use super::fault;
use super::route::Route;
use super::work::act_as;
use crate::error::{Code, Error, Result, is_control_character};
use crate::id::digest;
use crate::ops::operation::{Described, Facts, Frame, Operation, Run, Visitor};
use crate::ops::{Context, Notes, api};
use crate::strict::{self, Input};

pub(super) fn routes() -> Vec<Route> {
    let mut routes = Vec::new();
    api::visit_all(&mut routes);
    routes
}

impl Visitor for Vec<Route> {
    fn visit<Request: DeserializeOwned + Described, Reply: Serialize + Described>(
        &mut self,
        operation: &'static Operation<Request, Reply>,
    ) {
        self.push(Route::for_operation(operation, |call| {
            answer(call, &operation.facts, &|context, input| {
                run(operation, context, input)
            })
        }));
    }
}

/// Runs an operation and returns its reply as JSON. A refusal lists the faults of all fields, where the operation does.
fn run<Request: DeserializeOwned, Reply: Serialize>(
    operation: &Operation<Request, Reply>,
    context: &mut Context,
    input: Input,
) -> Result<Vec<u8>> {
    match operation.facts.lists_faults {
        true => list_faults(context, input, &|context, input| {
            run_once(operation, context, input)
        }),
        false => run_once(operation, context, input),
    }
}

/// Runs an operation and lists the faults of all fields if it is refused: each invalid field is left out, and the rest
/// is checked again.
fn list_faults(
    context: &mut Context,
    mut input: Input,
    run: &dyn Fn(&mut Context, Input) -> Result<Vec<u8>>,
) -> Result<Vec<u8>> {
    let mut first = match run(context, input.clone()) {
        Err(error) => error,
        done => return done,
    };
    let mut next = first.clone();
    context.only_checks = true;
    while let Some(field) = next.field.take()
        && !first.fields.contains_key(&field)
    {
        let end = field.to_lowercase();
        let is_it = |name: &str| name.to_lowercase().ends_with(&end);
        input.body.retain(|name, _| !is_it(name));
        // A task needs one.
        if field == "title" {
            input.body.insert(field.clone(), field.as_str().into());
        }
        first.fields.insert(field, next.message);
        match run(context, input.clone()) {
            Err(error) => next = error,
            Ok(_) => break,
        }
    }
    context.only_checks = false;
    Err(first)
}

fn run_once<Request: DeserializeOwned, Reply: Serialize>(
    operation: &Operation<Request, Reply>,
    context: &mut Context,
    input: Input,
) -> Result<Vec<u8>> {
    let request = input.read().map_err(|mut fault| {
        if let Some((field, known)) = &fault.unknown
            && fault.path.is_empty()
            && operation.facts.has_agent()
        {
            let others = known.iter().filter(|name| **name != "agent");
            let known: Vec<&str> = others.copied().chain(["agent"]).collect();
            fault.what = strict::describe_unknown(field, &known);
        }
        let field = fault.path.split(['.', '[']).next().unwrap_or_default();
        let error = Error::new(Code::InputInvalid, fault.to_string());
        match field {
            "" => error,
            field => error.in_field(field.to_string()),
        }
    })?;
    let reply = match operation.run {
        Run::Inside(run) => run(context, request),
        Run::Anywhere(run) => run(&context.surroundings, &mut context.notes, request),
    }?;
    json(&reply)
}

fn answer(
    call: &Call,
    facts: &Facts,
    run: &dyn Fn(&mut Context, Input) -> Result<Vec<u8>>,
) -> Result<Answer> {
    let mut input = gather(call, facts)?;
    let agent = match facts.has_agent() {
        true => take_agent(&mut input)?,
        false => None,
    };
    let context = &mut *call.context(facts.name)?;
    act_as(call, context, agent.as_deref())?;
    let expected = call.header(IF_MATCH.as_str())?;
    let expected = expected.map(|tag| tag.trim().trim_matches('"').to_string());
    // An asterisk accepts any version.
    let expected = expected.filter(|tag| tag != "*");
    let task = call.path_segment("id").parse().ok();
    let task = task.filter(|_| facts.address.contains("/tasks/{id}"));
    context.expected = task.zip(expected);
    let version = facts.is_versioned.then(|| version(call, context));
    let version = version.transpose()?;
    let known = call.header(IF_NONE_MATCH.as_str())?;
    if let Some((version, known)) = version.as_ref().zip(known)
        && (known.trim() == "*" || known.contains(version))
    {
        let same = Answer::bytes(JSON, "").under(StatusCode::NOT_MODIFIED);
        return Ok(same.header(ETAG, version));
    }
    let reply = run(context, input)?;
    let notes = std::mem::take(&mut context.notes);
    let is_framed = facts.frame != Frame::Ours;
    let reply = with_notes(reply, &notes, facts)?;
    match &notes.failure {
        Some(error) => {
            let reply = String::from_utf8(reply).map_err(|cause| unwritable().because(cause))?;
            let reply = RawValue::from_string(reply);
            fault::verdict(&reply.map_err(|cause| unwritable().because(cause))?, error)
        }
        None if facts.creates
            && (notes.operation.is_some() || is_framed && !notes.is_rehearsed) =>
        {
            Ok(Answer::bytes(JSON, reply).under(StatusCode::CREATED))
        }
        None => {
            let answer = Answer::bytes(JSON, reply);
            Ok(match version {
                Some(version) => answer.header(ETAG, &version),
                None => answer,
            })
        }
    }
}

/// Returns the ETag of a reply, from the last changes of tasks and runs, the leases that have
/// expired since, the request and the caller.
fn version(call: &Call, context: &mut Context) -> Result<String> {
    let now = context.now();
    let (changes, events, expired) = context.read(|transaction| {
        let expired = transaction.expired_claims(&now)?.len();
        let (change, event) = (transaction.last_cursor()?, transaction.last_event()?);
        Ok((change, event, expired))
    })?;
    let asked = call.uri.query().unwrap_or_default();
    let asked = digest(format!("{:?} {asked}", call.caller.visible_user()).as_bytes());
    let asked = asked.get(7..15).unwrap_or_default();
    Ok(format!("\"{changes}-{events}-{expired}-{asked}\""))
}

/// Collects a request: for a read from path and query, for a write from path and body.
fn gather(call: &Call, facts: &Facts) -> Result<Input> {
    let mut texts = call.parts.clone();
    // A path has one spelling; only a command line may have spaces around an id.
    if let Some((name, _)) = texts.iter().find(|(_, text)| text.trim() != text) {
        return Err(error!(InputInvalid, "{name} has spaces around it"));
    }
    if !has_body(&call.method) {
        texts.extend(call.pairs()?);
        if let Some((usual, max)) = facts.limit {
            let is_capped = facts.frame != Frame::Ours;
            check_limit(&mut texts, usual, max, is_capped)?;
        }
    }
    let has_fields = |body: Map<String, Value>| !body.is_empty();
    let body = match has_body(&call.method) {
        // Some clients send an empty one.
        false if serde_json::from_slice(&call.body).is_ok_and(has_fields) => {
            let message = format!("{} takes its parameters in the query", call.method);
            return Err(Error::new(Code::InputInvalid, message));
        }
        true if !call.body.is_empty() => call.body()?,
        _ => Value::default(),
    };
    let body = match body {
        Value::Object(mut body) => {
            body.retain(|name, _| !strict::is_among(name, facts.own));
            body
        }
        Value::Null => Default::default(),
        _ => {
            return Err(Error::new(Code::InputInvalid, "the body must be an object"));
        }
    };
    for (at, (name, _)) in texts.iter().enumerate() {
        let is_twice =
            body.contains_key(name) || texts[..at].iter().any(|(other, _)| other == name);
        if is_twice {
            let shown: String = name
                .chars()
                .filter(|c| !is_control_character(*c))
                .take(NAME_MAX)
                .collect();
            return Err(error!(InputInvalid, "duplicate parameter `{shown}`"));
        }
    }
    Ok(Input { texts, body })
}

pub(super) fn has_body(method: &Method) -> bool {
    !matches!(*method, Method::GET | Method::DELETE)
}

/// Refuses a limit that is out of bounds, and sets the default.
fn check_limit(
    texts: &mut Vec<(String, String)>,
    usual: u32,
    max: u32,
    is_capped: bool,
) -> Result<()> {
    let Some((_, text)) = texts.iter_mut().find(|(name, _)| name == "limit") else {
        texts.push(("limit".to_string(), usual.to_string()));
        return Ok(());
    };
    let is_number = !text.is_empty() && text.bytes().all(|digit| digit.is_ascii_digit());
    match text.parse::<u32>() {
        Ok(limit) if limit <= max || !is_capped => limit_within(Some(limit), usual, max).map(drop),
        _ if is_number && is_capped => {
            *text = max.to_string();
            Ok(())
        }
        // Invalid numbers are refused where they are read.
        _ => Ok(()),
    }
}

fn take_agent(input: &mut Input) -> Result<Option<String>> {
    match input.body.remove("agent") {
        None | Some(Value::Null) => {
            let place = input.texts.iter().position(|(name, _)| name == "agent");
            Ok(place.map(|place| input.texts.remove(place).1))
        }
        Some(Value::String(agent)) => Ok(Some(agent)),
        Some(_) => Err(error!(InputInvalid, "agent: a text is expected")),
    }
}

/// Adds to the object of a reply: `success` where a specification has it, warnings, and the number
/// of the operation.
fn with_notes(mut reply: Vec<u8>, notes: &Notes, facts: &Facts) -> Result<Vec<u8>> {
    if facts.frame != Frame::Ours {
        reply.splice(1..1, *b"\"success\":true,");
    }
    if facts.frame == Frame::Success {
        return Ok(reply);
    }
    if reply.pop() != Some(b'}') {
        return Err(unwritable());
    }
    let comma = match reply.last() {
        Some(b'{') => "",
        _ => ",",
    };
    reply.extend_from_slice(comma.as_bytes());
    reply.extend_from_slice(b"\"warnings\":");
    reply.extend(json(&notes.warnings)?);
    if facts.is_recorded() {
        reply.extend_from_slice(b",\"operation\":");
        reply.extend(json(&notes.operation)?);
    }
    reply.push(b'}');
    Ok(reply)
}

fn unwritable() -> Error {
    Error::new(Code::Internal, "the reply is not an object")
}
