//! Asking a configured model, of a server that answers well, badly or not at all. No test leaves this
//! machine.

use std::process::{Command, Stdio};
use std::time::Duration;

use crate::error::{Code, Error};
use crate::llm::client::Client;
use crate::llm::settings::Key;
use crate::llm::{Finish, Model, Provider, Reply, Request, Usage};
use crate::runner::signals;
use serde_json::{Value, json};

use super::server::{Answer, Server};

/// A key that opens nothing.
pub(super) const KEY: &str = "sk-test-0123456789abcdef";

const ALL: [Provider; 2] = [Provider::OpenAiChat, Provider::Anthropic];

pub(super) fn model(provider: Provider, url: &str) -> Model {
    Model {
        provider,
        name: None,
        base_url: url.to_string(),
        key_variable: Some("TEST_KEY".to_string()),
        needs_key: true,
        is_of_project: false,
        timeout: Duration::from_secs(60),
        retries: 2,
        stream: false,
        prices: None,
    }
}

fn client(model: &Model) -> Client {
    let key = Key::new("TEST_KEY", KEY).unwrap();
    Client::new(model, Some(key))
}

/// Asks and returns the answer with the text as it was seen.
pub(super) fn ask(model: &Model) -> (Result<Reply, Error>, Vec<String>) {
    let mut seen = Vec::new();
    let request = Request::single("m", "Be brief.", "Hi");
    let reply = client(model).ask(&request, &mut |text| seen.push(text.to_string()));
    (reply, seen)
}

/// Asks a server that must be refused, and returns the error, which must not contain the key.
#[track_caller]
pub(super) fn fails(model: &Model, code: Code) -> Error {
    let (reply, _) = ask(model);
    let error = reply.unwrap_err();
    assert_eq!(error.code, code, "{error}");
    assert!(!format!("{error:?}").contains(KEY), "{error:?}");
    assert!(error.fix.is_some(), "{error}");
    error
}

/// A good answer of a server.
fn good(provider: Provider, text: &str) -> Value {
    match provider {
        Provider::OpenAiChat | Provider::Ollama | Provider::Gemini => {
            json!({"model": "m-1", "choices": [{"message": {"content": text}, "finish_reason": "stop"}],
                "usage": {"prompt_tokens": 9, "completion_tokens": 2}})
        }
        Provider::Anthropic => {
            json!({"model": "m-1", "content": [{"type": "text", "text": text}], "stop_reason": "end_turn",
                "usage": {"input_tokens": 9, "output_tokens": 2}})
        }
    }
}

pub(super) fn chat(text: &str) -> String {
    good(Provider::OpenAiChat, text).to_string()
}

/// An answer that comes in two pieces, the first of which is text.
pub(super) fn pieces(provider: Provider) -> Answer {
    let event = |value: Value| format!("data: {value}\n\n");
    let (first, rest) = match provider {
        Provider::OpenAiChat | Provider::Ollama | Provider::Gemini => (
            event(json!({"model": "m-1", "choices": [{"delta": {"content": "Hel"}}]})),
            event(
                json!({"choices": [{"delta": {"content": "lo"}, "finish_reason": "stop"}],
                "usage": {"prompt_tokens": 9, "completion_tokens": 2}}),
            ) + "data: [DONE]\n\n",
        ),
        Provider::Anthropic => (
            event(
                json!({"type": "message_start", "message": {"model": "m-1", "usage": {"input_tokens": 9}}}),
            ) + &event(json!({"type": "content_block_delta", "delta": {"text": "Hel"}})),
            event(json!({"type": "content_block_delta", "delta": {"text": "lo"}}))
                + &event(
                    json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 2}}),
                ),
        ),
    };
    let kind = "Content-Type: text/event-stream\r\n";
    Answer::Pieces(kind, vec![first, rest])
}

#[track_caller]
fn is_hello(reply: Reply) {
    assert_eq!(
        (reply.text.as_str(), reply.model.as_str()),
        ("Hello", "m-1")
    );
    assert_eq!(reply.finish, Finish::Stop);
    assert_eq!(
        (reply.usage.input_tokens, reply.usage.output_tokens),
        (Some(9), Some(2))
    );
}

#[test]
fn every_kind_of_server_is_asked_with_its_key_where_it_wants_it() {
    for provider in ALL {
        let server = Server::start(&[Answer::Whole(200, "", good(provider, "Hello").to_string())]);
        let (reply, seen) = ask(&model(provider, &server.url));
        is_hello(reply.unwrap());
        assert_eq!(seen, ["Hello"]);
        let asked = server.read_requests().remove(0);
        let (line, header) = match provider {
            Provider::Anthropic => ("POST /v1/messages", format!("x-api-key: {KEY}")),
            _ => (
                "POST /chat/completions",
                format!("authorization: bearer {KEY}"),
            ),
        };
        assert_eq!(asked.line, line);
        assert!(asked.headers.contains(&header), "{}", asked.headers);
        assert!(
            asked.headers.contains("content-type: application/json"),
            "{}",
            asked.headers
        );
        assert_eq!(
            asked.headers.contains("anthropic-version: 2023-06-01"),
            provider == Provider::Anthropic
        );
        assert_eq!(asked.body["model"], "m");
        assert!(!asked.body.to_string().contains(KEY));
    }
}

#[test]
fn answer_is_shown_in_pieces() {
    for provider in ALL {
        let server = Server::start(&[pieces(provider)]);
        let model = Model {
            stream: true,
            ..model(provider, &server.url)
        };
        let mut seen = Vec::new();
        // The server sends the second piece only when the first has been seen.
        let reply = client(&model).ask(&Request::single("m", "", "Hi"), &mut |text| {
            seen.push(text.to_string());
            let _ = server.go.send(());
        });
        is_hello(reply.unwrap());
        assert_eq!(seen, ["Hel", "lo"], "{provider:?}");
        assert_eq!(server.read_requests()[0].body["stream"], true);
    }
}

#[test]
fn whole_answer_to_streaming_request_is_accepted() {
    for provider in ALL {
        let server = Server::start(&[Answer::Whole(200, "", good(provider, "Hello").to_string())]);
        let model = Model {
            stream: true,
            ..model(provider, &server.url)
        };
        let (reply, seen) = ask(&model);
        is_hello(reply.unwrap());
        assert_eq!(seen, ["Hello"], "{provider:?}");
    }
}

#[test]
fn what_passes_is_tried_again() {
    let busy = |status| {
        Answer::Whole(
            status,
            "Retry-After: 0\r\n",
            r#"{"error":{"message":"busy"}}"#.to_string(),
        )
    };
    let well = Answer::Whole(200, "", chat("Hello"));
    for first in [
        busy(429),
        busy(408),
        busy(409),
        busy(500),
        busy(503),
        busy(529),
        Answer::Close,
    ] {
        let server = Server::start(&[first.clone(), first, well.clone()]);
        let (reply, _) = ask(&model(Provider::OpenAiChat, &server.url));
        is_hello(reply.unwrap());
        assert_eq!(server.read_requests().len(), 3);
    }
    for (status, code) in [
        (400, Code::ModelRefused),
        (401, Code::ModelRefused),
        (404, Code::ModelRefused),
    ] {
        let server = Server::start(&[busy(status), well.clone()]);
        let error = fails(&model(Provider::OpenAiChat, &server.url), code);
        assert!(
            error.message.contains(&format!("HTTP {status}: busy")),
            "{error}"
        );
        assert!(!error.is_retryable());
        assert_eq!(server.read_requests().len(), 1);
    }
}

#[test]
fn trying_again_ends_after_as_many_times_as_settings_say() {
    let server = Server::start(&[Answer::Whole(503, "Retry-After: 0\r\n", String::new())]);
    for (retries, asked) in [(0, 1), (1, 3)] {
        let model = Model {
            retries,
            ..model(Provider::Anthropic, &server.url)
        };
        let error = fails(&model, Code::ModelUnreachable);
        assert!(
            error.message.contains("HTTP 503") && error.is_retryable(),
            "{error}"
        );
        assert_eq!(server.read_requests().len(), asked);
    }
}

#[test]
fn retry_after_beyond_time_limit_is_not_waited_for() {
    let date = "Retry-After: Fri, 01 Jan 2100 00:00:00 GMT\r\n";
    for header in ["Retry-After: 86400\r\n", date] {
        let server = Server::start(&[Answer::Whole(429, header, "{}".to_string())]);
        let error = fails(
            &model(Provider::OpenAiChat, &server.url),
            Code::ModelRefused,
        );
        assert!(
            error.message.contains("which llm.timeout does not allow"),
            "{error}"
        );
        assert!(error.is_retryable());
        assert_eq!(server.read_requests().len(), 1);
    }
}

#[test]
fn what_answer_took_is_counted_also_when_it_cannot_be_used() {
    let request = Request::single("m", "Be brief.", "Hi");
    for (provider, stream) in ALL.into_iter().flat_map(|it| [(it, false), (it, true)]) {
        let answer = match (provider, stream) {
            (_, false) => good(provider, " ").to_string(),
            (Provider::Anthropic, true) => format!(
                "data: {}\n\ndata: {}\n\n",
                json!({"type": "message_start", "message": {"usage": {"input_tokens": 9}}}),
                json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"},
                    "usage": {"output_tokens": 2}})
            ),
            (_, true) => format!("data: {}\n\n", good(provider, " ")),
        };
        let kind = match stream {
            true => "Content-Type: text/event-stream\r\n",
            false => "Content-Type: application/json\r\n",
        };
        let server = Server::start(&[Answer::Whole(200, kind, answer)]);
        let model = Model {
            stream,
            ..model(provider, &server.url)
        };
        let mut counted = Usage::default();
        for times in 1..=2 {
            let asked = client(&model).ask_counting(&request, &mut counted, &mut |_| {});
            assert_eq!(asked.unwrap_err().code, Code::ModelAnswer, "{provider:?}");
            let expected = (Some(9 * times), Some(2 * times));
            assert_eq!(
                (counted.input_tokens, counted.output_tokens),
                expected,
                "{provider:?}"
            );
        }
    }
}

#[test]
fn server_that_wants_key_is_named_with_settings() {
    let server = Server::start(&[Answer::Whole(401, "", "{}".to_string())]);
    for (is_of_project, why) in [
        (false, "llm.apiKeyEnv does not say"),
        (true, "the project's file names"),
    ] {
        let model = Model {
            key_variable: None,
            needs_key: false,
            is_of_project,
            ..model(Provider::Ollama, &server.url)
        };
        let client = Client::new(&model, None);
        let request = Request::single("m", "", "Hi");
        let error = client.ask(&request, &mut |_| {}).unwrap_err();
        assert!(error.message.contains(why), "{error}");
        let fix = error.fix.as_deref();
        assert_eq!(fix, Some("cleo config list --show-origin"));
    }
}

/// Not a test of its own: it is run as a process that somebody interrupts. See below.
#[test]
#[ignore = "it is run by the test below"]
fn process_that_waits_for_model() {
    let Ok(url) = std::env::var("TEST_URL") else {
        return;
    };
    let error = ask(&model(Provider::OpenAiChat, &url)).0.unwrap_err();
    assert_eq!(error.code, Code::Terminated, "{error}");
    assert!(
        error
            .message
            .contains("terminated while cleo waited for an answer"),
        "{error}"
    );
}

#[test]
fn interrupted_cleo_ends_its_model_request() {
    let server = Server::start(&[Answer::Hang]);
    let mut process = Command::new(std::env::current_exe().unwrap())
        .args([
            "--ignored",
            "--exact",
            "tests::models::process_that_waits_for_model",
        ])
        .env("TEST_URL", &server.url)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    while server.read_requests().is_empty() {
        assert!(
            process.try_wait().unwrap().is_none(),
            "it has ended by itself"
        );
        std::thread::yield_now();
    }
    let pid = nix::unistd::Pid::from_raw(process.id() as i32);
    nix::sys::signal::kill(pid, nix::sys::signal::SIGTERM).unwrap();
    server.left.recv_timeout(Duration::from_secs(20)).unwrap();
    assert!(process.wait().unwrap().success());
    let output = process.wait_with_output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    assert!(!String::from_utf8_lossy(&said).contains(KEY));
}

#[test]
fn dropped_question_closes_its_connection() {
    let server = Server::start(&[Answer::Hang]);
    let model = model(Provider::OpenAiChat, &server.url);
    let error = signals::run_until(|| true, || ask(&model).0.unwrap_err());
    assert_eq!(error.code, Code::Interrupted, "{error}");
    server.left.recv_timeout(Duration::from_secs(20)).unwrap();
}
