//! The two wire formats: what is sent, what is read, and that nothing a server says breaks them.

use std::time::Duration;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::reply::Reader;
use super::*;

const ALL: [Provider; 2] = [Provider::OpenAiChat, Provider::Anthropic];

fn model(provider: Provider) -> Model {
    Model {
        provider,
        name: Some("m".to_string()),
        base_url: "http://h/v1".to_string(),
        key_variable: None,
        needs_key: false,
        is_of_project: false,
        timeout: Duration::from_secs(1),
        retries: 0,
        stream: true,
        prices: None,
    }
}

fn request() -> Request {
    Request {
        system: "Be brief.".to_string(),
        messages: vec![
            Message::user("Hi"),
            Message::assistant("Yes?"),
            Message::user("Why?"),
        ],
        model: "agents-own".to_string(),
        temperature: Some(1.5),
        schema: None,
        max_tokens: 7,
    }
}

#[test]
fn request_has_form_of_its_server() {
    let said = json!([{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Yes?"},
        {"role": "user", "content": "Why?"}]);
    let mut with_system = said.clone();
    let system = json!({"role": "system", "content": "Be brief."});
    with_system.as_array_mut().unwrap().insert(0, system);
    for (provider, url, body) in [
        (
            Provider::OpenAiChat,
            "http://h/v1/chat/completions",
            json!({"model": "m", "messages": with_system, "max_tokens": 7, "temperature": 1.5,
                "stream": true, "stream_options": {"include_usage": true}}),
        ),
        (
            Provider::Anthropic,
            "http://h/v1/v1/messages",
            json!({"model": "m", "messages": said, "system": "Be brief.", "max_tokens": 7,
                "temperature": 1.0, "stream": true}),
        ),
    ] {
        let draft = provider.make_request(&model(provider), &request(), true);
        assert_eq!((draft.url.as_str(), draft.body), (url, body));
        let whole = provider
            .make_request(&model(provider), &request(), false)
            .body;
        assert!(
            whole.get("stream").is_none_or(|stream| stream == false),
            "{whole}"
        );
    }
}

#[test]
fn unset_values_are_not_sent() {
    for provider in ALL {
        let model = Model {
            name: None,
            ..model(provider)
        };
        let draft = provider.make_request(&model, &Request::single("own", "", "Hi"), false);
        assert_eq!(draft.body["model"], "own");
        let text = draft.body.to_string();
        assert!(
            !text.contains("system") && !text.contains("instructions"),
            "{text}"
        );
        assert!(!text.contains("temperature"), "{text}");
    }
    let openai = Model {
        base_url: "https://api.openai.com/v1".to_string(),
        ..model(Provider::OpenAiChat)
    };
    let body = Provider::OpenAiChat
        .make_request(&openai, &request(), false)
        .body;
    assert_eq!(
        (body.get("max_tokens"), &body["max_completion_tokens"]),
        (None, &json!(7))
    );
}

/// Returns the answer to "Hi" in each format: whole, then in pieces.
fn answers(provider: Provider) -> (Value, &'static str) {
    match provider {
        Provider::OpenAiChat | Provider::Ollama | Provider::Gemini => (
            json!({"id": "x", "model": "m-1", "choices": [{"message": {"role": "assistant", "content": "Hello"},
                "finish_reason": "stop"}], "usage": {"prompt_tokens": 9, "completion_tokens": 2,
                "prompt_tokens_details": {"cached_tokens": 4}}}),
            concat!(
                "data: {\"model\":\"m-1\",\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}]}\n\n",
                "data: {\"model\":\"m-1\",\"choices\":[{\"delta\":{\"content\":\"Hel\"}}],\"usage\":null}\n\n",
                "data: {\"choices\":[{\"delta\":{\"content\":\"lo\"}}]}\n\n",
                "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n",
                "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":2,\"prompt_tokens_details\":{\"cached_tokens\":4}}}\n\n",
                "data: [DONE]\n\n",
            ),
        ),
        Provider::Anthropic => (
            json!({"type": "message", "model": "m-1", "content": [{"type": "thinking", "thinking": "no"},
                {"type": "text", "text": "Hel"}, {"type": "text", "text": "lo"}], "stop_reason": "end_turn",
                "usage": {"input_tokens": 3, "cache_creation_input_tokens": 2, "cache_read_input_tokens": 4, "output_tokens": 2}}),
            concat!(
                "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"model\":\"m-1\",\"content\":[],\"stop_reason\":null,",
                "\"usage\":{\"input_tokens\":3,\"cache_creation_input_tokens\":2,\"cache_read_input_tokens\":4,\"output_tokens\":1}}}\n\n",
                "event: ping\ndata: {\"type\":\"ping\"}\n\n",
                "data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n",
                "data: {\"type\":\"content_block_delta\",\"delta\":{\"type\":\"text_delta\",\"text\":\"Hel\"}}\n\n",
                "data: {\"type\":\"content_block_delta\",\"delta\":{\"type\":\"text_delta\",\"text\":\"lo\"}}\n\n",
                "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":2}}\n\n",
                "data: {\"type\":\"message_stop\"}\n\n",
            ),
        ),
    }
}

/// Reads an answer that comes piece by piece.
fn read_stream(provider: Provider, text: &str) -> Delta {
    let mut reader = Reader::default();
    let lines = text.split_inclusive('\n');
    let mut events: Vec<String> = lines.filter_map(|line| reader.push(line)).collect();
    events.extend(reader.finish());
    let mut found = Delta::default();
    let events = events
        .iter()
        .filter_map(|event| serde_json::from_str(event).ok());
    events.for_each(|event: Value| found.add(provider.parse_delta(&event)));
    found
}

#[test]
fn answer_is_same_whole_and_in_pieces() {
    for provider in ALL {
        let (whole, pieces) = answers(provider);
        let expected = Reply {
            text: "Hello".to_string(),
            finish: Finish::Stop,
            usage: Usage {
                input_tokens: Some(9),
                output_tokens: Some(2),
                total_tokens: None,
            },
            model: "m-1".to_string(),
        };
        assert_eq!(
            provider.parse_reply(&whole).finish("m").as_ref(),
            Ok(&expected),
            "{provider:?}"
        );
        assert_eq!(
            read_stream(provider, pieces).finish("m"),
            Ok(expected),
            "{provider:?}"
        );
    }
}

#[test]
fn end_of_answer_is_told_in_one_word_for_all_servers() {
    for (provider, body, finish) in [
        (
            Provider::OpenAiChat,
            json!({"choices": [{"message": {"content": "x"}, "finish_reason": "length"}]}),
            Finish::Length,
        ),
        (
            Provider::OpenAiChat,
            json!({"choices": [{"message": {"content": null, "refusal": "no"}, "finish_reason": "stop"}]}),
            Finish::Refused,
        ),
        (
            Provider::OpenAiChat,
            json!({"choices": [{"message": {"content": "x"}, "finish_reason": "content_filter"}]}),
            Finish::Refused,
        ),
        (
            Provider::OpenAiChat,
            json!({"choices": [{"message": {"content": [{"type": "text", "text": "x"}]}, "finish_reason": "odd"}]}),
            Finish::Other("odd".into()),
        ),
        (
            Provider::Anthropic,
            json!({"content": [{"type": "text", "text": "x"}], "stop_reason": "max_tokens"}),
            Finish::Length,
        ),
        (
            Provider::Anthropic,
            json!({"content": [], "stop_reason": "refusal"}),
            Finish::Refused,
        ),
    ] {
        let reply = provider.parse_reply(&body).finish("asked").unwrap();
        assert_eq!(
            (reply.finish, reply.model.as_str(), reply.usage),
            (finish, "asked", Usage::default()),
            "{body}"
        );
    }
}

#[test]
fn invalid_answer_is_not_accepted() {
    for provider in ALL {
        for body in [
            json!({}),
            json!([]),
            json!("x"),
            json!(null),
            json!({"choices": 1, "content": 1}),
            // Both formats at once, with nothing but blanks in them.
            json!({"choices": [{"message": {"content": " \n"}, "finish_reason": "stop"}],
                "content": [{"type": "text", "text": " "}], "stop_reason": "end_turn"}),
        ] {
            assert!(
                provider.parse_reply(&body).finish("m").is_err(),
                "{provider:?} {body}"
            );
        }
        let (_, pieces) = answers(provider);
        let cut = &pieces[..pieces.find("lo\"").unwrap() - 40];
        assert!(
            read_stream(provider, cut).finish("m").is_err(),
            "{provider:?} {cut}"
        );
    }
}

#[test]
fn what_server_says_went_wrong_is_found() {
    for (provider, event) in [
        (
            Provider::OpenAiChat,
            json!({"error": {"message": "busy", "type": "t"}}),
        ),
        (
            Provider::Anthropic,
            json!({"type": "error", "error": {"type": "overloaded_error", "message": "busy"}}),
        ),
        (Provider::OpenAiChat, json!({"error": "busy"})),
    ] {
        assert_eq!(
            provider.parse_delta(&event).error.as_deref(),
            Some("busy"),
            "{event}"
        );
    }
    for (body, said) in [
        (json!({"error": {"message": "a"}}), Some("a")),
        (json!({"error": "b"}), Some("b")),
        (json!({"detail": "c"}), Some("c")),
        (json!({"error": {"code": 7}}), Some("{\"code\":7}")),
        (json!({"ok": 1}), None),
        (json!(7), None),
    ] {
        assert_eq!(reply::error(&body).as_deref(), said);
    }
}

/// JSON of the words that servers use, in places where they do not belong.
fn hostile() -> impl Strategy<Value = Value> {
    let words = [
        "error",
        "content",
        "type",
        "response.completed",
        "message_start",
        "text",
        "stop",
        "output",
        "\u{1b}[2J",
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        proptest::sample::select(words.to_vec()).prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
    ];
    let names = proptest::sample::select(vec![
        "choices",
        "message",
        "delta",
        "content",
        "text",
        "type",
        "usage",
        "error",
        "output",
        "response",
        "status",
        "done",
        "stop_reason",
        "model",
        "input_tokens",
        "cache_read_input_tokens",
        "finish_reason",
        "refusal",
    ]);
    leaf.prop_recursive(5, 48, 6, move |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::vec((names.clone(), inner), 0..6).prop_map(|fields| fields
                .into_iter()
                .map(|(name, value)| (name.to_string(), value))
                .collect()),
        ]
    })
}

proptest! {
    #![proptest_config(crate::tests::cases(64))]

    #[test]
    fn no_json_of_server_breaks_reader(value in hostile()) {
        for provider in ALL {
            let _ = provider.parse_reply(&value).finish("m");
            let _ = provider.parse_delta(&value).finish("m");
        }
        let _ = reply::error(&value);
    }

    #[test]
    fn no_text_of_server_breaks_reader(text in "(data: ?|event|: |\r|\n|\\{|\\}|\"error\"|é|\u{1b}|[a-z]|\\PC){0,60}") {
        for provider in ALL {
            let _ = read_stream(provider, &text).finish("m");
        }
    }
}
