//! Makes the description. It says what every endpoint may answer, also what all of them may: so an
//! answer that it does not name is a fault, of the endpoint or of the list.

mod names;

use std::collections::BTreeSet;

use axum::http::Method;
use schemars::SchemaGenerator;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use self::names::{SCHEMAS, join};
use crate::http::answer::JSON;
use crate::http::fault::Shape;
use crate::http::operations;
use crate::http::route::{self, Route, Row};
use crate::http::work::AGENT_MAX;
use crate::ops::operation::Frame;
use crate::reply::Failure;
use crate::strict::to_snake_case;
use crate::task::schema::visible;
use crate::tests::generated;

/// Name of the reply to a URL that is too long.
const TOO_LONG: &str = "AddressTooLong";

fn description() -> Value {
    let mut generators = Generators::new();
    // Before anything else: other types of this name get another one.
    generators.writes.subschema_for::<Failure<'static>>();
    let mut paths: Map<String, Value> = Map::new();
    for route in route::all() {
        let operations = paths.entry(route.path).or_insert_with(|| json!({}));
        operations[route.method.as_str().to_lowercase()] = operation(route, &mut generators);
    }
    let mut reads = generators.reads.take_definitions(true);
    reads
        .values_mut()
        .chain(list_requests(&mut paths))
        .for_each(bound);
    let mut writes = generators.writes.take_definitions(true);
    writes.values_mut().for_each(generated::strip_aliases);
    let mut schemas = join(reads, writes, list_requests(&mut paths));
    for (name, schema) in shapes() {
        let there = schemas.insert(name.clone(), schema);
        assert!(there.is_none(), "two definitions are called {name}");
    }
    let mut described = json!({
        "openapi": "3.1.0",
        "info": {
            "title": "cleo",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "What `cleo serve` answers. On this machine no token is needed.",
            "license": {"name": "MIT", "identifier": "MIT"},
        },
        "servers": [{"url": "/"}],
        "security": [{}, {"token": []}, {"cookie": []}],
        "paths": paths,
        "components": {
            "schemas": schemas,
            // The connection answers it itself, before there is a request.
            "responses": {(TOO_LONG): {"description": "The address is too long; there is no body"}},
            "securitySchemes": {
                "token": {"type": "http", "scheme": "bearer"},
                "cookie": {
                    "type": "apiKey", "in": "cookie", "name": "cleo_token_4680",
                    "description": "The number is the port of the server",
                },
            },
        },
    });
    reword(&mut described);
    described
}

/// Words of descriptions that are for command lines, and those that stand for them.
const REWORDED: [(&str, &str); 7] = [
    (" (repeat for more)", ""),
    ("\n(repeat for more)", ""),
    (", repeated or separated by commas", ""),
    ("(repeat: with", "(several: with"),
    (" (or CLEO_EPOCH)", ""),
    (" (or CLEO_SESSION)", ""),
    (" (with --next)", ""),
];

fn reword(value: &mut Value) {
    if let Some(Value::String(text)) = value.get_mut("description") {
        for (words, instead) in REWORDED {
            *text = text.replace(words, instead);
        }
    }
    match value {
        Value::Object(fields) => fields.values_mut().for_each(reword),
        Value::Array(items) => items.iter_mut().for_each(reword),
        _ => {}
    }
}

/// Says of a request what the types of its numbers say, and the other words that are read.
fn bound(schema: &mut Value) {
    let aliases = schema.get_mut("x-aliases").map(Value::take);
    if let Some(Value::Array(aliases)) = aliases.filter(|aliases| *aliases != json!([])) {
        match schema.get_mut("enum").and_then(Value::as_array_mut) {
            Some(words) => words.extend(aliases),
            None => schema["oneOf"]
                .as_array_mut()
                .unwrap()
                .push(json!({"enum": aliases})),
        }
    }
    if schema["type"] == "string" && schema.get("default") == Some(&Value::Null) {
        schema.as_object_mut().unwrap().remove("default");
    }
    let max = match schema["format"].as_str() {
        Some("uint32") => Some(u64::from(u32::MAX)),
        Some("uint64" | "uint") => Some(u64::MAX),
        Some("int64") => Some(i64::MAX as u64),
        _ => None,
    };
    if let (Some(max), None) = (max, schema.get("maximum")) {
        schema["maximum"] = max.into();
    }
    match schema {
        Value::Object(fields) => fields.values_mut().for_each(bound),
        Value::Array(items) => items.iter_mut().for_each(bound),
        _ => {}
    }
}

fn list_requests(paths: &mut Map<String, Value>) -> impl Iterator<Item = &mut Value> {
    let operations = paths.values_mut().filter_map(Value::as_object_mut);
    let parts = operations.flat_map(Map::values_mut);
    let parts = parts.filter_map(Value::as_object_mut).flatten();
    let asked = parts.filter(|(name, _)| matches!(name.as_str(), "parameters" | "requestBody"));
    asked.map(|(_, value)| value)
}

/// Generators for schemas of requests and of replies, which differ in optional fields.
struct Generators {
    reads: SchemaGenerator,
    writes: SchemaGenerator,
}

impl Generators {
    fn new() -> Generators {
        let settings = SchemaSettings::draft2020_12().with(|settings| {
            settings.definitions_path = SCHEMAS.into();
            settings.meta_schema = None;
        });
        Generators {
            reads: settings.clone().for_deserialize().into_generator(),
            writes: settings.for_serialize().into_generator(),
        }
    }
}

fn operation(route: &Route, generators: &mut Generators) -> Value {
    let mut operation = json!({
        "operationId": id(route),
        "summary": route.about,
        "tags": [route.tag],
        "x-scope": route.scope,
        "responses": answers(route, &mut generators.writes),
    });
    if let Some(row) = &route.description.row {
        describe_request(&mut operation, route, row, &mut generators.reads);
        return operation;
    }
    let mut parameters: Vec<Value> = names(route.path).map(path_parameter).collect();
    if let Some(describe) = route.description.query {
        parameters.extend(queries(describe(&mut generators.reads).to_value()));
    }
    if !parameters.is_empty() {
        operation["parameters"] = Value::Array(parameters);
    }
    if let Some(describe) = route.description.body {
        let mut schema = describe(&mut generators.reads).to_value();
        if route.path == "/api/agents/register" {
            let id = json!({"type": ["string", "null"], "pattern": "^custom_[0-9]{1,57}$"});
            schema = json!({"allOf": [schema, {"properties": {"id": id}}]});
        }
        operation["requestBody"] = json!({
            "required": !route.description.is_bodiless,
            "content": {"application/json": {"schema": schema}},
        });
    }
    operation
}

fn path_parameter(name: &str) -> Value {
    describe_path_parameter(name, json!({"type": "string"}))
}

fn describe_path_parameter(name: &str, mut schema: Value) -> Value {
    plain(&mut schema);
    if schema == json!({"type": "string"}) {
        schema["pattern"] = r"^[^\s\x85]([\s\S]*[^\s\x85])?$".into();
    }
    json!({"name": name, "in": "path", "required": true, "schema": schema})
}

type Narrow = fn(&mut Value);

/// Parts of requests that have less meaning at one address than at the other that shares them.
const NARROWED: &[(&str, &str, Narrow)] = &[
    ("POST /api/work/tasks/{id}/claim", "properties", |fields| {
        fields.as_object_mut().unwrap().remove("epic");
    }),
    ("POST /api/work/claim", "not", |rule| {
        let next = json!({"not": {"required": ["id"]}, "required": ["force"],
            "properties": {"force": {"const": true}}});
        *rule = json!({"anyOf": [{"required": ["id", "epic"]}, next]});
    }),
    ("POST /api/tasks/create", "properties", |fields| {
        fields["status"] =
            json!({"enum": ["todo", "pending", "open"], "description": "A new task is todo"});
    }),
];

/// Describes the request of an operation: a part of it is in the path, the rest in the query or in the body.
fn describe_request(operation: &mut Value, route: &Route, row: &Row, reads: &mut SchemaGenerator) {
    let facts = row.facts;
    let has_body = operations::has_body(&route.method);
    let name = &row.request_name;
    let mut schema = (row.request)(reads).to_value();
    let mut parameters = Vec::new();
    for part in names(route.path) {
        let fields = schema["properties"].as_object_mut().unwrap();
        let field = fields.remove(part).expect(facts.address);
        parameters.push(describe_path_parameter(part, field));
        if let Some(required) = schema.get_mut("required").and_then(Value::as_array_mut) {
            required.retain(|name| name != part);
        }
    }
    for (address, part, narrow) in NARROWED {
        if *address == facts.address {
            narrow(&mut schema[*part]);
        }
    }
    // A field whose default is refused is required; a change leaves out what stays.
    match list_invalid_defaults(&mut schema) {
        Some(required) if route.method == Method::POST => schema["required"] = required,
        _ if has_body => drop(schema.as_object_mut().unwrap().remove("required")),
        _ => {}
    }
    for own in facts.own {
        for name in [own.to_string(), to_snake_case(own)] {
            schema["properties"][name] =
                json!({"readOnly": true, "description": "Ignored: only cleo sets it"});
        }
    }
    if facts.has_agent() {
        let mut agent = schemars::json_schema!({"type": ["string", "null"], "description": "The agent that acts"});
        visible(AGENT_MAX)(&mut agent);
        schema["properties"]["agent"] = agent.to_value();
    }
    if let Some((usual, max)) = facts.limit {
        schema["properties"]["limit"] = json!({
            "type": "integer", "minimum": 1, "maximum": max, "default": usual,
            "description": "Maximum number of items",
        });
        if let Some(required) = schema["required"].as_array_mut() {
            required.retain(|name| name != "limit");
        }
        // More is read as the largest.
        if facts.frame != Frame::Ours
            && let Some(limit) = schema["properties"]["limit"].as_object_mut()
        {
            limit.remove("maximum");
        }
    }
    if !has_body {
        parameters.extend(queries(schema));
    } else {
        let required = schema["required"].as_array();
        let is_required = required.is_some_and(|required| !required.is_empty());
        let name = name.to_string();
        let known = reads.definitions_mut().entry(name.clone());
        // A request of two operations differs where it is in the path of one.
        let schema = match known.or_insert_with(|| schema.clone()) == &schema {
            true => json!({"$ref": format!("#{SCHEMAS}/{name}")}),
            false => schema,
        };
        operation["requestBody"] = json!({
            "required": is_required,
            "content": {JSON: {"schema": schema}},
        });
    }
    if !parameters.is_empty() {
        operation["parameters"] = Value::Array(parameters);
    }
}

/// Removes defaults that their fields refuse; returns the names of required fields, those among them, if there are any.
fn list_invalid_defaults(schema: &mut Value) -> Option<Value> {
    let mut required = schema["required"].as_array().cloned().unwrap_or_default();
    for (name, field) in schema["properties"].as_object_mut()? {
        // A field of a type with a name has no other default than null.
        let rule = jsonschema::validator_for(field);
        let is_named = field.get("$ref").is_some();
        let is_invalid = |default| is_named || rule.is_ok_and(|rule| !rule.is_valid(default));
        if field.get("default").is_some_and(is_invalid) {
            // Null is left out, too.
            if field.as_object_mut()?.remove("default") != Some(Value::Null) {
                required.push(name.clone().into());
            }
        }
    }
    (!required.is_empty()).then(|| required.into())
}

/// Describes the reply of an operation, with what follows it.
fn describe_reply(route: &Route, row: &Row, writes: &mut SchemaGenerator) -> Map<String, Value> {
    let facts = row.facts;
    let reply = (row.reply)(writes);
    let with = |name: &str| json!({"$ref": format!("#{SCHEMAS}/{name}")});
    let parts = match facts.frame {
        Frame::Ours if facts.is_recorded() => vec![reply.to_value(), with("WithOperation")],
        Frame::Ours => vec![reply.to_value(), with("WithWarnings")],
        Frame::Success => vec![with("Success"), reply.to_value()],
        Frame::SuccessAndWarnings => {
            vec![with("Success"), reply.to_value(), with("WithWarnings")]
        }
    };
    let schema = json!({"allOf": parts});
    let answer = json!({"description": route.about, "content": {JSON: {"schema": schema}}});
    let created = facts.creates.then(|| ("201".to_string(), answer.clone()));
    // Nothing is created by a rehearsal.
    let request = (row.request)(&mut SchemaGenerator::default()).to_value();
    let can_rehearse = request["properties"].get("dryRun").is_some();
    let same = (facts.frame == Frame::Ours || !facts.creates || can_rehearse)
        .then(|| ("200".to_string(), answer));
    same.into_iter().chain(created).collect()
}

/// Names an endpoint: `get /api/agents/{id}` is `getApiAgentsId`.
fn id(route: &Route) -> String {
    let words = route.path.split(|c: char| !c.is_ascii_alphanumeric());
    let mut id = route.method.as_str().to_lowercase();
    for word in words.filter(|word| !word.is_empty()) {
        id.extend(word.chars().next().map(|c| c.to_ascii_uppercase()));
        id += &word[1..];
    }
    id
}

fn names(path: &str) -> impl Iterator<Item = &str> {
    path.split('/')
        .filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'))
}

fn queries(schema: Value) -> Vec<Value> {
    let required = schema["required"].as_array().cloned().unwrap_or_default();
    let fields = schema["properties"]
        .as_object()
        .cloned()
        .unwrap_or_default();
    let parameter = |(name, mut schema): (String, Value)| {
        let is_required = required.iter().any(|there| there == name.as_str());
        let about = schema["description"].take();
        plain(&mut schema);
        let mut parameter = json!({
            "name": name, "in": "query", "required": is_required,
            "description": about, "schema": schema,
        });
        if parameter["schema"]["type"] == "array" {
            // Words with commas between them.
            parameter["explode"] = false.into();
        }
        parameter
    };
    fields.into_iter().map(parameter).collect()
}

/// Removes null from a schema: query parameters are never null.
fn plain(schema: &mut Value) {
    let Some(fields) = schema.as_object_mut() else {
        return;
    };
    fields.remove("description");
    fields.remove("default");
    if let Some(Value::Array(types)) = fields.get_mut("type") {
        types.retain(|one| one != "null");
        if let [only] = &types[..] {
            let only = only.clone();
            fields.insert("type".to_string(), only);
        }
    }
    if let Some(Value::Array(any)) = fields.get_mut("anyOf") {
        any.retain(|one| one["type"] != "null");
        if let [only] = &any[..] {
            let only = only.clone();
            *schema = only;
        }
    }
}

fn answers(route: &Route, generator: &mut SchemaGenerator) -> Value {
    let mut answers = match &route.description.row {
        Some(row) => describe_reply(route, row, generator),
        None => Map::new(),
    };
    for (status, describe, mime) in &route.description.answers {
        let content = match describe {
            Some(describe) => json!({"schema": describe(generator)}),
            None => json!({}),
        };
        let entry = answers.entry(status.to_string());
        let about = match status {
            303 | 400 => meaning(*status),
            _ => route.about,
        };
        let answer = entry.or_insert_with(|| json!({"description": about, "content": {}}));
        answer["content"][*mime] = content;
    }
    assert!(
        !answers.is_empty(),
        "{} {} says nothing of its answers",
        route.method,
        route.path
    );
    for status in refusals(route) {
        let refusing = route.shape.refusal_shape();
        let shape = match status {
            401 | 408 | 413 | 415 | 429 | 431 => refusing,
            _ => route.shape,
        };
        let mut schemas = vec![json!({"$ref": reference(shape)})];
        // An endpoint refuses under these, and so does what comes before all of them.
        if shape != refusing && matches!(status, 400 | 403 | 503) {
            schemas.push(json!({"$ref": reference(refusing)}));
        }
        let schema = match &schemas[..] {
            [only] => only.clone(),
            _ => json!({"anyOf": schemas}),
        };
        let entry = answers.entry(status.to_string());
        let answer =
            entry.or_insert_with(|| json!({"description": meaning(status), "content": {}}));
        if answer["content"].get(JSON).is_none() {
            answer["content"][JSON] = json!({"schema": schema});
        }
    }
    let too_long = format!("#/components/responses/{TOO_LONG}");
    answers.insert("414".to_string(), json!({"$ref": too_long}));
    Value::Object(answers)
}

fn refusals(route: &Route) -> Vec<u16> {
    let mut statuses = vec![400, 403, 408, 413, 429, 431, 500, 503];
    statuses.extend(&route.description.refusals);
    if !route.is_open {
        statuses.push(401);
    }
    let names = route.path.contains('{') || route.description.query.is_some();
    if names || route.method != Method::GET {
        statuses.push(404);
    }
    if route.method != Method::GET {
        statuses.extend([401, 409, 422, 502, 504]);
    }
    if route.description.body.is_some() || route.description.row.is_some() {
        statuses.extend([404, 409, 415, 422]);
    }
    statuses.sort_unstable();
    statuses.dedup();
    statuses
}

fn meaning(status: u16) -> &'static str {
    match status {
        303 => "Redirect to the sign-in page, without a required token",
        400 => "The request is invalid; without a body if it is malformed HTTP",
        401 => "The token is missing, invalid, expired or revoked",
        403 => "The caller is not allowed to do this",
        404 => "Not found, or not visible to the caller",
        408 => "Timeout while reading the body; may be retried",
        409 => "Conflict with the current state",
        413 => "The body is too large",
        415 => "The body is not JSON, or is compressed or not UTF-8",
        422 => "A check failed, or an idempotency key was used with another body",
        429 => "Too many calls",
        431 => "The head of the request is too large; without a body if it was incomplete",
        502 => "A model or worker failed",
        503 => "The server is busy or shutting down",
        504 => "Timeout",
        _ => "Internal error",
    }
}

fn reference(shape: Shape) -> String {
    format!("#{SCHEMAS}/Error{shape:?}")
}

/// Notes after the replies of operations.
fn notes() -> [(String, Value); 3] {
    let warnings = json!({
        "type": "array", "items": {"type": "string"},
        "description": "Warnings",
    });
    let operation = json!({
        "type": ["integer", "null"], "minimum": 0,
        "description": "Number of the operation in the log; null if nothing was recorded",
    });
    [
        ("Success", json!({"type": "object", "properties": {"success": {"const": true}}, "required": ["success"]})),
        ("WithWarnings", json!({"type": "object", "properties": {"warnings": warnings}, "required": ["warnings"]})),
        ("WithOperation", json!({
            "type": "object", "properties": {"warnings": warnings, "operation": operation},
            "required": ["warnings", "operation"],
        })),
    ]
    .map(|(name, schema)| (name.to_string(), schema))
}

fn shapes() -> Vec<(String, Value)> {
    let text = json!({"type": "string"});
    let object = |fields: Value, required: Value| json!({"type": "object", "properties": fields, "required": required});
    let success = object(
        json!({"success": {"const": false}, "error": text, "code": text, "fix": text, "field": text}),
        json!(["success", "error"]),
    );
    let message = object(
        json!({"status": {"const": "error"}, "message": text}),
        json!(["status", "message"]),
    );
    let failure = json!({"$ref": format!("#{SCHEMAS}/Failure")});
    [
        // A check that failed says beside the error what it found.
        (
            Shape::Ours,
            object(json!({"error": failure, "result": {}}), json!(["error"])),
        ),
        (Shape::Success, success.clone()),
        (Shape::Plain, success),
        (
            Shape::Bare,
            object(json!({"error": text}), json!(["error"])),
        ),
        (
            Shape::Chat,
            object(json!({"response": message}), json!(["response"])),
        ),
        (
            Shape::Detail,
            object(json!({"detail": text}), json!(["detail"])),
        ),
    ]
    .map(|(shape, schema)| (format!("Error{shape:?}"), schema))
    .into_iter()
    .chain(notes())
    .collect()
}

#[test]
fn openapi_file_is_current() {
    generated::check("docs/openapi.json", &generated::lay_out(&description(), 3));
}

#[test]
fn descriptions_suit_http_and_defaults_their_fields() {
    let described = description();
    let mut parts = vec![&described];
    let mut seen = BTreeSet::new();
    while let Some(part) = parts.pop() {
        match part {
            Value::Object(fields) => parts.extend(fields.values()),
            Value::Array(items) => parts.extend(items),
            _ => {}
        }
        if let Some(Value::String(text)) = part.get("description") {
            let of_commands = ["--", "(or CLEO_", "(repeat"];
            assert!(
                !of_commands.iter().any(|words| text.contains(words)),
                "{text}"
            );
        }
        if let (Some(default), Some(_)) = (
            part.get("default"),
            part.get("type").or(part.get("$ref")).or(part.get("anyOf")),
        ) && seen.insert(part.to_string())
        {
            let mut schema = part.clone();
            schema["components"] = described["components"].clone();
            assert!(jsonschema::is_valid(&schema, default), "{part}");
        }
    }
}

#[test]
fn endpoints_have_unique_names_and_summaries() {
    let mut ids: Vec<String> = route::all().iter().map(id).collect();
    ids.sort_unstable();
    let count = ids.len();
    ids.dedup();
    assert_eq!(ids.len(), count);
    for route in route::all() {
        assert!(
            !route.about.is_empty() && !route.about.ends_with('.'),
            "{}",
            route.path
        );
    }
}

#[test]
fn bodies_are_described_unchanged_read() {
    let described = description();
    let schema = |path: &str, method: &str| {
        let content = &described["paths"][path][method]["requestBody"]["content"];
        let place = content["application/json"]["schema"]["$ref"].as_str();
        let place = place.unwrap().trim_start_matches('#');
        described.pointer(place).unwrap().clone()
    };
    let entry = [
        "id",
        "file",
        "title",
        "date",
        "status",
        "topics",
        "key_findings",
        "actionable",
        "needs_followup",
        "linked_tasks",
    ];
    let entry = entry.to_vec();
    for (method, path, field, required) in [
        ("post", "/api/chat", "pendingOperation", vec!["message"]),
        ("post", "/api/route", "explain", vec![]),
        ("post", "/api/route/try", "draft", vec!["draft"]),
        ("put", "/api/conversations/{id}", "title", vec![]),
        ("post", "/api/work/tasks/{id}/spawn", "template", vec![]),
        ("post", "/query", "conversation_id", vec!["query"]),
        ("post", "/api/manifest", "key_findings", entry),
    ] {
        let schema = schema(path, method);
        assert!(schema["properties"][field].is_object(), "{path}: {schema}");
        let told = schema["required"].as_array().cloned().unwrap_or_default();
        assert_eq!(Value::from(told), json!(required), "{path}: {schema}");
    }
    let shown = &schema("/query", "post")["properties"]["options"];
    let place = shown["anyOf"][0]["$ref"].as_str().unwrap();
    let shown = described.pointer(place.trim_start_matches('#')).unwrap();
    assert!(shown["properties"]["debug"].is_object(), "{shown}");
}
