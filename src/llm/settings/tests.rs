use super::*;
use crate::config::{self, Origin};

/// Makes settings of names and values; those after `project` are in its file.
fn make(user: &[(&str, &str)], project: &[(&str, &str)]) -> Result<Option<Model>> {
    let mut settings = Settings::default();
    let path = |of: &str| Origin::File {
        path: format!("/x/{of}/config.yaml"),
        line: 1,
    };
    let user = user.iter().map(|set| (set, path("cleo")));
    let project = project.iter().map(|set| (set, path(".cleo")));
    for ((name, value), origin) in user.chain(project) {
        let key = config::Key::require(name).unwrap();
        settings.add(key, key.read(value).unwrap(), origin);
    }
    Model::from(&settings)
}

fn model(user: &[(&str, &str)]) -> Model {
    make(user, &[]).unwrap().unwrap()
}

#[test]
fn no_provider_is_no_model() {
    assert_eq!(make(&[("llm.model", "m")], &[]).unwrap(), None);
}

#[test]
fn each_provider_has_own_address_and_key() {
    for (word, url, variable, needs_key) in [
        (
            "openai-chat",
            "https://api.openai.com/v1",
            Some("OPENAI_API_KEY"),
            true,
        ),
        (
            "anthropic",
            "https://api.anthropic.com",
            Some("ANTHROPIC_API_KEY"),
            true,
        ),
        ("ollama", "http://127.0.0.1:11434/v1", None, false),
        (
            "gemini",
            "https://generativelanguage.googleapis.com/v1beta/openai",
            Some("GEMINI_API_KEY"),
            true,
        ),
    ] {
        let model = model(&[("llm.provider", word), ("llm.model", "m")]);
        assert_eq!(
            (model.provider.word(), model.base_url.as_str()),
            (word, url)
        );
        assert_eq!(
            (model.key_variable.as_deref(), model.needs_key),
            (variable, needs_key)
        );
        assert_eq!(
            (model.timeout.as_secs(), model.retries, model.stream),
            (120, 2, true)
        );
    }
}

#[test]
fn variable_of_ollama_may_be_host_or_port_alone() {
    for (text, url) in [
        ("127.0.0.1:11500", "http://127.0.0.1:11500"),
        ("box", "http://box:11434"),
        (":11500", "http://127.0.0.1:11500"),
        ("0.0.0.0", "http://127.0.0.1:11434"),
        ("[::1]", "http://[::1]:11434"),
        ("::1", "http://[::1]:11434"),
        ("::", "http://127.0.0.1:11434"),
        ("box:", "http://box:11434"),
        ("https://box/", "https://box/"),
    ] {
        assert_eq!(Provider::Ollama.address(text), url);
    }
    assert_eq!(Provider::OpenAiChat.address("https://x/v1"), "https://x/v1");
}

#[test]
fn address_of_ollama_leads_to_its_chat_completions() {
    for url in [
        "http://box:11434",
        "http://box:11434/",
        "http://box:11434/v1/",
    ] {
        let settings = [
            ("llm.provider", "ollama"),
            ("llm.model", "m"),
            ("llm.baseUrl", url),
        ];
        assert_eq!(model(&settings).base_url, "http://box:11434/v1", "{url}");
    }
}

#[test]
fn servers_of_others_may_want_no_key_unless_one_is_named() {
    let own = ("llm.baseUrl", "http://10.0.0.7:8000/v1/");
    let model_of =
        |more: &[(&str, &str)]| model(&[&[("llm.provider", "openai-chat"), own], more].concat());
    let plain = model_of(&[]);
    assert_eq!(plain.base_url, "http://10.0.0.7:8000/v1");
    assert_eq!(
        (plain.key_variable.as_deref(), plain.needs_key),
        (Some("OPENAI_API_KEY"), false)
    );
    let named = model_of(&[("llm.apiKeyEnv", "MY_KEY")]);
    assert_eq!(
        (named.key_variable.as_deref(), named.needs_key),
        (Some("MY_KEY"), true)
    );
}

#[test]
fn cost_is_shown_only_if_fully_known() {
    let usage = super::super::Usage {
        input_tokens: Some(1_000_000),
        output_tokens: Some(500_000),
        total_tokens: None,
    };
    let with = |more: &[(&str, &str)]| model(&[&[("llm.provider", "openai-chat")], more].concat());
    let both = with(&[("llm.inputPrice", "0.5"), ("llm.outputPrice", "3")]);
    assert_eq!(both.cost(&usage), Some(2.0));
    assert_eq!(
        both.cost(&super::super::Usage {
            output_tokens: None,
            ..usage
        }),
        None
    );
    assert_eq!(with(&[("llm.inputPrice", "0.5")]).cost(&usage), None);
}

#[test]
fn settings_that_fit_nothing_are_refused() {
    for (more, word) in [
        (("llm.provider", "anthropic"), "which model"),
        (("llm.provider", "ollama"), "which model"),
        (("llm.provider", "gemini"), "which model"),
        (("llm.baseUrl", "ftp://x"), "must be an address"),
        (("llm.baseUrl", "https://"), "must be an address"),
        (("llm.baseUrl", "https:///v1"), "must be an address"),
        (("llm.baseUrl", "https://me:pw@x.org"), "must be an address"),
        (("llm.baseUrl", "https://x.org/?a=b"), "must be an address"),
        (("llm.baseUrl", "https://x y.org"), "must be an address"),
    ] {
        let error = make(&[more, ("llm.provider", "openai-chat")], &[]).unwrap_err();
        assert_eq!(error.code, Code::ConfigInvalid, "{more:?}");
        assert!(error.message.contains(word), "{more:?}: {}", error.message);
        assert!(!error.message.contains("12345") && !error.message.contains("pw@"));
        assert!(error.fix.is_some());
    }
}

#[test]
fn project_cannot_lead_words_or_keys_to_server_of_own() {
    let user = [("llm.provider", "openai-chat"), ("llm.apiKeyEnv", "MY_KEY")];
    for url in [
        "https://evil.example",
        "http://127.0.0.1.evil.example",
        "http://localhost.evil",
        "http://10.0.0.1",
    ] {
        let error = make(&user, &[("llm.baseUrl", url)]).unwrap_err();
        assert!(
            error.message.contains("servers of this machine only"),
            "{}",
            error.message
        );
    }
    for url in [
        "http://127.0.0.1:8080/v1",
        "http://localhost:1",
        "http://[::1]:1/v1",
    ] {
        let local = make(&user, &[("llm.baseUrl", url)]).unwrap().unwrap();
        assert_eq!(
            (local.key_variable, local.needs_key),
            (None, false),
            "{url}"
        );
    }
    let error = make(
        &[],
        &[
            ("llm.provider", "openai-chat"),
            ("llm.apiKeyEnv", "AWS_SECRET"),
        ],
    )
    .unwrap_err();
    assert!(
        error.message.contains("project's file"),
        "{}",
        error.message
    );
    let both = make(
        &[&user[..], &[("llm.baseUrl", "https://mine.example")]].concat(),
        &[("llm.baseUrl", "https://evil.example")],
    );
    assert_eq!(both.unwrap().unwrap().base_url, "https://mine.example");
}

#[test]
fn key_is_taken_out_however_it_arrives() {
    let key = Key::new("K", "aab-key1").unwrap();
    let text = "aaaab-key1aab-key1é aab-ke aab-key1 aa";
    for size in 1..12 {
        let letters: Vec<char> = text.chars().collect();
        let mut redactor = Redactor::new(Some(&key));
        let pieces = letters
            .chunks(size)
            .map(|piece| piece.iter().collect::<String>());
        let mut shown: String = pieces.map(|piece| redactor.push(&piece)).collect();
        shown += &redactor.finish();
        assert_eq!(shown, "aa[key][key]é aab-ke [key] aa", "by {size}");
    }
}

#[test]
fn placeholder_of_key_stays_in_messages() {
    for word in ["x", "test", "ollama", "7-bytes"] {
        let key = Key::new("K", word).unwrap();
        let text = format!("Install {word} for the {word}ing box");
        assert_eq!(key.redact(&text), text);
        let mut redactor = Redactor::new(Some(&key));
        let shown: String = text
            .split_inclusive(' ')
            .map(|piece| redactor.push(piece))
            .collect();
        assert_eq!(shown + &redactor.finish(), text);
    }
}

#[test]
fn api_key_is_never_shown_or_repeated_in_refusal() {
    assert_eq!(
        format!("{:?}", Key::new("K", " secret\n").unwrap()),
        "[key]"
    );
    for value in ["", "  ", "two words", "a\nb", "schlüssel"] {
        let refused = Key::new("MY_KEY", value).unwrap_err();
        assert_eq!(refused.code, Code::ConfigInvalid);
        let message = "MY_KEY holds something that can be no key; set it to the key";
        assert_eq!(refused.message, message);
    }
}
