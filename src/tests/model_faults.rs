//! Servers of models that hang, answer nonsense, break off, or lead keys elsewhere. No test leaves this machine.

use std::time::Duration;

use crate::error::Code;
use crate::llm::{Model, Provider};

use super::models::{KEY, ask, chat, fails, model, pieces};
use super::server::{Answer, Server, nobody};

#[test]
fn server_that_hangs_is_left_in_time() {
    for first in [Answer::Hang, pieces(Provider::OpenAiChat)] {
        let server = Server::start(&[first]);
        let model = Model {
            timeout: Duration::from_millis(700),
            stream: true,
            ..model(Provider::OpenAiChat, &server.url)
        };
        let error = fails(&model, Code::ModelTimeout);
        assert!(error.is_retryable(), "{error}");
        assert_eq!(server.read_requests().len(), 1);
    }
}

#[test]
fn timed_out_question_leaves_no_connection() {
    let server = Server::start(&[Answer::Hang]);
    let timeout = Duration::from_millis(500);
    fails(
        &Model {
            timeout,
            ..model(Provider::Ollama, &server.url)
        },
        Code::ModelTimeout,
    );
    // The server hears it when the process that asked is gone.
    server.left.recv_timeout(Duration::from_secs(20)).unwrap();
}

#[test]
fn unreachable_server_has_own_error() {
    let model = Model {
        retries: 0,
        ..model(Provider::OpenAiChat, &format!("http://{}", nobody()))
    };
    let error = fails(&model, Code::ModelUnreachable);
    assert!(
        error.is_retryable() && error.message.contains("could not be reached"),
        "{error}"
    );
}

#[test]
fn server_without_tls_is_not_safe() {
    let server = Server::start(&[Answer::Whole(200, "", chat("Hello"))]);
    let url = server.url.replace("http://", "https://");
    let error = fails(&model(Provider::OpenAiChat, &url), Code::ModelUnreachable);
    assert!(server.read_requests().is_empty(), "{error}");
}

#[test]
fn answer_that_is_none_is_said_to_be_none() {
    let text = |text: &str| Answer::Whole(200, "", text.to_string());
    let events =
        |text: &str| Answer::Whole(200, "Content-Type: text/event-stream\r\n", text.to_string());
    for (answer, stream, word) in [
        (text("hello"), false, "not JSON"),
        (text(""), false, "not JSON"),
        (text("{}"), false, "before its end"),
        (text("[[[["), false, "not JSON"),
        (text(&chat("")), false, "no text"),
        (
            text(r#"{"error":{"message":"overloaded"}}"#),
            false,
            "the server says: overloaded",
        ),
        (events("data: hello\n\n"), true, "not JSON"),
        (events(""), true, "before its end"),
        (
            events("data: {\"choices\":[{\"delta\":{\"content\":\"x\"}}]}\n\n"),
            true,
            "before its end",
        ),
        (
            events("data: {\"error\":{\"message\":\"overloaded\"}}\n\n"),
            true,
            "the server says: overloaded",
        ),
        (
            events(&format!("data: {}", "x".repeat(2 << 20))),
            true,
            "not JSON",
        ),
        (Answer::Garbage, false, "cannot be used"),
    ] {
        let server = Server::start(&[answer]);
        let model = Model {
            stream,
            ..model(Provider::OpenAiChat, &server.url)
        };
        let error = fails(&model, Code::ModelAnswer);
        assert!(error.message.contains(word), "{word}: {error}");
        assert_eq!(server.read_requests().len(), 1, "{error}");
    }
}

#[test]
fn answer_without_end_does_not_fill_memory() {
    let server = Server::start(&[Answer::Endless]);
    let error = fails(&model(Provider::OpenAiChat, &server.url), Code::ModelAnswer);
    assert!(error.message.contains("larger than"), "{error}");
}

#[test]
fn broken_answer_with_text_shown_is_not_retried() {
    let server = Server::start(&[Answer::Cut(
        "data: {\"choices\":[{\"delta\":{\"content\":\"Hel\"}}]}\n\n".to_string(),
    )]);
    let model = Model {
        stream: true,
        ..model(Provider::OpenAiChat, &server.url)
    };
    let (reply, seen) = ask(&model);
    assert_eq!(reply.unwrap_err().code, Code::ModelUnreachable);
    assert_eq!(
        (seen, server.read_requests().len()),
        (vec!["Hel".to_string()], 1)
    );
}

#[test]
fn redirects_are_not_followed_so_key_goes_nowhere_else() {
    let other = Server::start(&[Answer::Whole(200, "", chat("Hello"))]);
    let location: &'static str = format!("Location: {}/x\r\n", other.url).leak();
    for status in [301, 302, 303, 307, 308] {
        let server = Server::start(&[Answer::Whole(status, location, String::new())]);
        let error = fails(
            &model(Provider::OpenAiChat, &server.url),
            Code::ModelRefused,
        );
        assert!(error.message.contains("redirect"), "{error}");
    }
    assert!(other.read_requests().is_empty());
}

#[test]
fn key_that_server_repeats_is_taken_out() {
    for status in [200, 400, 401, 500] {
        let server = Server::start(&[Answer::Echo(status)]);
        let model = Model {
            retries: 0,
            ..model(Provider::OpenAiChat, &server.url)
        };
        let (reply, _) = ask(&model);
        let error = reply.unwrap_err();
        assert!(!format!("{error:?}").contains(KEY), "{error:?}");
        assert!(error.message.contains("[key]"), "{error}");
    }
    let server = Server::start(&[Answer::Whole(200, "", chat(&format!("it is {KEY}!")))]);
    let (reply, seen) = ask(&model(Provider::OpenAiChat, &server.url));
    assert_eq!(
        (reply.unwrap().text.as_str(), seen[0].as_str()),
        ("it is [key]!", "it is [key]!")
    );
}

/// The key as JSON may also write it.
fn escape(text: &str) -> String {
    let letters = KEY.bytes().map(|byte| format!("\\u{byte:04x}"));
    text.replace(KEY, &letters.collect::<String>())
}

#[test]
fn key_is_redacted_in_every_spelling() {
    let json = "Content-Type: application/json\r\n";
    let whole = escape(
        &serde_json::json!({
            "model": format!("m {KEY}"),
            "choices": [{"message": {"content": format!("it is {KEY}!")}, "finish_reason": KEY}],
        })
        .to_string(),
    );
    let parts = serde_json::json!({
        "choices": [{"message": {"content": [{"text": "it is "}, {"text": &KEY[..9]}, {"text": &KEY[9..]}, {"text": "!"}]},
            "finish_reason": "stop"}],
    });
    let piece = |text: &str, end: Option<&str>| {
        let choice = serde_json::json!({"delta": {"content": text}, "finish_reason": end});
        format!("data: {}\n\n", serde_json::json!({"choices": [choice]}))
    };
    let letters = KEY.chars().map(|letter| piece(&letter.to_string(), None));
    let spread = piece("it is ", None) + &letters.collect::<String>() + &piece("!", Some("stop"));
    let half = piece("it is ", None) + &piece(KEY, None) + &piece(&KEY[..9], Some("stop"));
    for (kind, body, stream, text) in [
        (json, whole, false, "it is [key]!"),
        (json, parts.to_string(), false, "it is [key]!"),
        (
            "Content-Type: text/event-stream\r\n",
            spread,
            true,
            "it is [key]!",
        ),
        (
            "Content-Type: text/event-stream\r\n",
            half,
            true,
            "it is [key]sk-test-0",
        ),
    ] {
        let server = Server::start(&[Answer::Whole(200, kind, body)]);
        let model = Model {
            stream,
            ..model(Provider::OpenAiChat, &server.url)
        };
        let (reply, seen) = ask(&model);
        let reply = reply.unwrap();
        assert_eq!((reply.text.as_str(), seen.concat().as_str()), (text, text));
        assert!(!format!("{reply:?}").contains(KEY), "{reply:?}");
    }
    let refusal = escape(&format!(
        r#"{{"error": {{"message": "{} {KEY}"}}}}"#,
        "x".repeat(480)
    ));
    let server = Server::start(&[Answer::Whole(400, json, refusal)]);
    let error = fails(
        &model(Provider::OpenAiChat, &server.url),
        Code::ModelRefused,
    );
    assert!(error.message.ends_with(" [key]"), "{error}");
}
