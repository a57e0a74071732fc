//! The real agent programs, each in a clean environment with a home of its own and a model that plays
//! a script. They are there when `CLEO_AGENT_PROGRAMS` names their folder, as `scripts/test` does.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use std::{fs, thread};

use crate::run::event::AgentEnd;
use crate::run::{Outcome, Spent};
use crate::runner::agent::{Invocation, Job, Limits, OutputState, Runner, Runners, drive};
use crate::runner::signals;
use serde_json::json;
use tempfile::TempDir;

use super::delivery::{GOOD, OUTPUT, entry_with, spawn_task};
use super::model::{Model, Step, say};
use super::world::{CLEO, TestWorkspace, add, assert_fields, document, skip, spawn};

const DONE: &str = "Research complete. See MANIFEST.jsonl for summary.";
/// Longer than any attempt takes.
const LONG: Duration = Duration::from_secs(150);
/// Has Gemini do all in the process that is started.
const ONE_PROCESS: &str = "GEMINI_CLI_NO_RELAUNCH";

/// A real program that does not see the variables of the user.
struct Clean(Box<dyn Runner>);

impl Runner for Clean {
    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn invocation(&self, job: &Job) -> Invocation {
        Invocation {
            passed: Vec::new(),
            ..self.0.invocation(job)
        }
    }

    fn read_line(&self, line: &str, ended: &mut OutputState) {
        self.0.read_line(line, ended);
    }

    fn read_error(&self, line: &str, ended: &mut OutputState) {
        self.0.read_error(line, ended);
    }

    fn judge(&self, ended: &mut OutputState) {
        self.0.judge(ended);
    }

    fn has_conversations(&self) -> bool {
        self.0.has_conversations()
    }
}

/// One program, its home, and the folder that it works in.
struct Agent {
    runner: Clean,
    home: TempDir,
    environment: Vec<(String, String)>,
    folder: PathBuf,
}

impl Agent {
    /// Returns the program of a name, set up to ask a model; none where it is not installed.
    fn find(name: &str, url: &str, folder: &Path) -> Option<Agent> {
        let programs = std::env::var_os("CLEO_AGENT_PROGRAMS").map(PathBuf::from);
        let Some(programs) = programs.filter(|programs| programs.join(name).exists()) else {
            skip(&format!("CLEO_AGENT_PROGRAMS does not lead to {name}"));
            return None;
        };
        let home = tempfile::tempdir().unwrap();
        let environment = surroundings(name, home.path(), url, &programs);
        Some(Agent {
            runner: Clean(Runners::default().find(name, None).unwrap()),
            home,
            environment,
            folder: folder.to_path_buf(),
        })
    }

    fn job(&self, play: &str) -> Job {
        Job {
            prompt: format!("This is a test.\nPLAY: {play}\nDo what you are told.\n"),
            output_file: self.folder.join(OUTPUT),
            folder: self.folder.clone(),
            environment: self.environment.clone(),
            passed: Vec::new(),
            model: None,
            resume: None,
            before: Spent::default(),
            tools: Vec::new(),
            program: None,
            limits: Limits {
                time: Some(LONG),
                ..Limits::default()
            },
            raw: self.home.path().join("raw"),
        }
    }

    fn drive(&self, job: &Job) -> AgentEnd {
        drive(&self.runner, job, &mut |_| {}).unwrap()
    }

    /// Plays something to its end.
    fn play(&self, play: &str) -> AgentEnd {
        self.drive(&self.job(play))
    }
}

/// Writes the settings of a program, and returns the variables that it gets.
fn surroundings(name: &str, home: &Path, url: &str, programs: &Path) -> Vec<(String, String)> {
    let write = |path: &str, text: String| {
        let path = home.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    let inherited = std::env::var_os("PATH").unwrap_or_default();
    let path = std::iter::once(programs.to_path_buf()).chain(std::env::split_paths(&inherited));
    let path = std::env::join_paths(path).unwrap().into_string().unwrap();
    let at_home = |place: &str| home.join(place).to_str().unwrap().to_string();
    let mut pairs = vec![
        ("PATH", path),
        ("HOME", at_home("")),
        ("XDG_CONFIG_HOME", at_home(".config")),
        ("XDG_DATA_HOME", at_home(".local/share")),
        ("XDG_STATE_HOME", at_home(".local/state")),
        ("XDG_CACHE_HOME", at_home(".cache")),
        ("NO_PROXY", "127.0.0.1".to_string()),
        ("CLEO_AGENT", name.to_string()),
        ("CLEO_NOW", "2026-01-26T09:30:00Z".to_string()),
    ];
    let dummy = || "dummy".to_string();
    let yes = || "1".to_string();
    let unpacked = programs.join("../home/.cache/copilot");
    match name {
        "claude" => pairs.extend([
            ("ANTHROPIC_BASE_URL", url.to_string()),
            ("ANTHROPIC_API_KEY", dummy()),
            ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", yes()),
            ("CLAUDE_CODE_MAX_RETRIES", yes()),
        ]),
        "codex" => {
            write(
                ".codex/config.toml",
                format!(
                    "model = \"scripted\"\nmodel_provider = \"scripted\"\n\
                     [model_providers.scripted]\nname = \"scripted\"\nbase_url = \"{url}/v1\"\n\
                     wire_api = \"responses\"\nenv_key = \"SCRIPTED_KEY\"\n\
                     request_max_retries = 1\nstream_max_retries = 2\n"
                ),
            );
            pairs.push(("SCRIPTED_KEY", dummy()));
        }
        "gemini" => {
            let settings = json!({"security": {"auth": {"selectedType": "gemini-api-key"}}});
            write(".gemini/settings.json", settings.to_string());
            pairs.extend([
                ("GEMINI_API_KEY", dummy()),
                ("GEMINI_MODEL", "gemini-2.5-pro".to_string()),
                ("GOOGLE_GEMINI_BASE_URL", url.to_string()),
                // Else it starts itself again, with more memory than any test needs.
                (ONE_PROCESS, "true".to_string()),
            ]);
        }
        "opencode" => {
            let options = json!({"baseURL": format!("{url}/v1"), "apiKey": "dummy"});
            let model = "anthropic/claude-sonnet-4-5";
            let settings = json!({
                "model": model, "small_model": model, "provider": {"anthropic": {"options": options}},
            });
            write(".config/opencode/opencode.json", settings.to_string());
            pairs.extend([
                ("OPENCODE_DISABLE_MODELS_FETCH", yes()),
                ("OPENCODE_DISABLE_AUTOUPDATE", yes()),
            ]);
        }
        "copilot" => pairs.extend([
            ("COPILOT_OFFLINE", "true".to_string()),
            ("COPILOT_PROVIDER_TYPE", "openai".to_string()),
            ("COPILOT_PROVIDER_BASE_URL", format!("{url}/v1")),
            ("COPILOT_PROVIDER_API_KEY", dummy()),
            ("COPILOT_MODEL", "gpt-4.1".to_string()),
            // It has unpacked itself there when it was installed.
            (
                "COPILOT_PKG_CACHE_HOME",
                unpacked.to_string_lossy().into_owned(),
            ),
        ]),
        _ => panic!("{name} is not a program"),
    }
    let pairs = pairs
        .into_iter()
        .map(|(name, value)| (name.to_string(), value));
    pairs.collect()
}

/// Steps of an honest agent: it writes the file, then the entry with cleo, and says so.
fn work(workspace: &TestWorkspace, output: &str, entry: &str) -> Vec<Step> {
    let append = format!("printf %s '{}' | {CLEO} manifest append", entry.trim());
    let output = workspace.path(output).to_str().unwrap().to_string();
    vec![
        Step::Write(output, GOOD.to_string()),
        Step::Shell(append),
        say(DONE),
    ]
}

/// The whole sequence: cleo starts the program, detects the missing work, and has it repaired in
/// the same conversation. Meanwhile the model is overloaded once, and the connection breaks once
/// where the program tries again.
fn lies_once_in_a_run_and_repairs_it(name: &str) {
    let workspace = TestWorkspace::new();
    add(
        &workspace,
        &[json!({"title": "Paint it", "description": "PLAY: lie"})],
    );
    let mut steps = vec![Step::Fail(529, 1), Step::Lie(DONE.to_string())];
    steps.extend(work(&workspace, OUTPUT, &entry_with(json!({}))));
    if name != "gemini" {
        steps.insert(steps.len() - 1, Step::Break);
    }
    let model = Model::start(&[("lie", steps)]);
    let Some(agent) = Agent::find(name, &model.url, workspace.root()) else {
        return;
    };
    let words = "run T1 --repair 1 --task-time-limit 150s --pass-env SCRIPTED_KEY --runner";
    let words: Vec<&str> = words.split(' ').chain([name]).collect();
    let mut command = workspace.command(&words);
    let own = agent
        .environment
        .iter()
        .filter(|(name, _)| !name.starts_with("CLEO_"));
    command.envs(own.map(|(name, value)| (name, value)));
    let reply = workspace.finish(command, "");
    assert_eq!(reply.exit, 0, "{reply}");
    let task = &document(&reply)["result"]["tasks"][0];
    assert_fields(task, json!({"state": "done", "attempts": 2}));
    let id = workspace.ask("runs list")["result"]["runs"][0]["id"].clone();
    let logs = workspace.json(&["runs", "logs", id.as_str().unwrap()]);
    let events = logs["result"]["events"].as_array().unwrap();
    let begun = events
        .iter()
        .filter(|event| event["type"] == "task.started");
    let resumes: Vec<_> = begun
        .map(|event| event["detail"]["resumes"].clone())
        .collect();
    assert_eq!(
        resumes,
        [json!(null), json!(true)],
        "in the same conversation"
    );
}

fn writes_nothing_when_it_may_only_read(name: &str) {
    let workspace = spawn_task();
    let model = Model::start(&[("work", work(&workspace, OUTPUT, &entry_with(json!({}))))]);
    let Some(agent) = Agent::find(name, &model.url, workspace.root()) else {
        return;
    };
    let mut job = agent.job("work");
    job.tools = vec!["Read".to_string()];
    let ended = agent.drive(&job);
    assert!(!workspace.path(OUTPUT).exists(), "{ended:#?}");
    if name == "claude" {
        // Denied tools are named although it reports success.
        assert_eq!(ended.outcome, Some(Outcome::Ok), "{ended:#?}");
        assert_eq!(ended.message.as_deref(), Some(DONE));
        assert_eq!(ended.denied_tools, ["Write", "Bash"]);
    }
    let verdict = workspace.ask("verify output T1");
    assert_eq!(verdict["success"], false, "{ended:#?}");
}

fn is_refused_by_its_model(name: &str) {
    let workspace = TestWorkspace::new();
    let model = Model::start(&[("refused", vec![Step::Fail(400, 99), say(DONE)])]);
    let Some(agent) = Agent::find(name, &model.url, workspace.root()) else {
        return;
    };
    let ended = agent.play("refused");
    assert_eq!(ended.outcome, Some(Outcome::AgentError), "{ended:#?}");
    assert!(ended.reason.unwrap().contains("400"));
}

fn is_not_let_in_by_its_model(name: &str) {
    let steps = vec![Step::Fail(401, 99), say(DONE)];
    ends(name, vec![(steps, |_| {}, Outcome::AgentError)]);
}

/// An answer that the model cut because it was too long; some say that all is well.
fn tells_a_cut_answer_or_not(name: &str) {
    let outcome = match name {
        "claude" | "opencode" => Outcome::AgentError,
        _ => Outcome::Ok,
    };
    let steps = vec![Step::Cut("Half".to_string())];
    ends(name, vec![(steps, |_| {}, outcome)]);
}

fn is_ended_while_its_model_is_silent(name: &str) {
    let workspace = TestWorkspace::new();
    let model = Model::start(&[("silence", vec![Step::Hang, say(DONE)])]);
    let Some(mut agent) = Agent::find(name, &model.url, workspace.root()) else {
        return;
    };
    // All that it has started ends as well.
    agent.environment.retain(|(name, _)| name != ONE_PROCESS);
    let stop = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&stop);
    let is_stopped = move || flag.load(Ordering::Relaxed);
    let ended = thread::scope(|scope| {
        scope.spawn(|| {
            model.wait_until_it_hangs();
            stop.store(true, Ordering::Relaxed);
        });
        let job = agent.job("silence");
        let play = || drive(&agent.runner, &job, &mut |_| {}).unwrap();
        signals::run_until(is_stopped, play)
    });
    assert_eq!(ended.outcome, Some(Outcome::Cancelled), "{ended:#?}");
    assert_eq!(ended.exit_code, None);
}

/// Some of them wait for a server for as long as they are let.
fn finds_no_server(name: &str) {
    let workspace = TestWorkspace::new();
    let url = format!("http://{}", super::server::nobody());
    let Some(agent) = Agent::find(name, &url, workspace.root()) else {
        return;
    };
    let mut job = agent.job("nothing");
    let outcome = match name {
        "claude" => Outcome::AgentError,
        _ => {
            job.limits.time = Some(Duration::from_secs(6));
            Outcome::Timeout
        }
    };
    let ended = agent.drive(&job);
    assert_eq!(ended.outcome, Some(outcome), "{ended:#?}");
}

/// Tests of one program; with `rare`, only its end while its model is silent is tested without `--ignored`.
macro_rules! each_program {
    ($rare:tt $($program:ident)+) => {
        $(mod $program {
            each_program!(@tests [] $program is_ended_while_its_model_is_silent);
            each_program!(@tests $rare $program lies_once_in_a_run_and_repairs_it
                writes_nothing_when_it_may_only_read finds_no_server is_refused_by_its_model
                is_not_let_in_by_its_model tells_a_cut_answer_or_not);
        })+
    };
    (@tests [$(#[$rare:meta])?] $program:ident $($test:ident)+) => {
        each_program!(@each $(#[$rare])?; $program $($test)+);
    };
    (@each ; $program:ident $($test:ident)+) => {
        $(#[test]
        fn $test() {
            super::$test(stringify!($program));
        })+
    };
    (@each #[$rare:meta]; $program:ident $($test:ident)+) => {
        $(#[test]
        #[$rare]
        fn $test() {
            super::$test(stringify!($program));
        })+
    };
}

each_program!([] claude codex);
// Their streams of these ends are recorded; the programs themselves take minutes to start so often.
each_program!([#[ignore = "slow; the recorded streams have it"]] gemini opencode copilot);

/// The script, the change of the job, and the outcome.
type Case = (Vec<Step>, fn(&mut Job), Outcome);

fn ends(name: &str, cases: Vec<Case>) {
    for (at, (steps, change, outcome)) in cases.into_iter().enumerate() {
        let workspace = TestWorkspace::new();
        let model = Model::start(&[("case", steps)]);
        let Some(agent) = Agent::find(name, &model.url, workspace.root()) else {
            return;
        };
        let mut job = agent.job("case");
        change(&mut job);
        let ended = agent.drive(&job);
        assert_eq!(ended.outcome, Some(outcome), "{at} {name} {ended:#?}");
    }
}

/// A script that runs for a while.
fn again_and_again() -> Vec<Step> {
    let mut steps = vec![Step::Shell("echo again".to_string()); 3];
    steps.push(say(DONE));
    steps
}

#[test]
fn claude_ends_for_its_model_its_turns_and_its_money() {
    let cases: Vec<Case> = vec![
        (vec![Step::Fail(429, 99)], |_| {}, Outcome::RateLimited),
        (
            again_and_again(),
            |job| job.limits.turns = Some(2),
            Outcome::Budget,
        ),
        (
            again_and_again(),
            |job| job.limits.cost = Some(0.0001),
            Outcome::Budget,
        ),
    ];
    ends("claude", cases);
}

/// A user may allow no other command than those of cleo.
#[test]
fn claude_allows_the_command_of_out_002() {
    let workspace = spawn_task();
    let block = workspace.ok("research inject T1").stdout;
    let (_, rest) = block.split_once("```sh\n").unwrap();
    let cleo = fs::canonicalize(CLEO).unwrap();
    let append = rest
        .split_once("```")
        .unwrap()
        .0
        .replace("cleo", cleo.to_str().unwrap());
    let append = append.replace("<complete|partial|blocked>", "complete");
    let fact = r#"'It'\''s "{x}" & $5.'"#;
    let append = append.replace("'<fact>'", &[fact; 3].join(" --finding "));
    let steps = vec![Step::Shell(append.replace("<title>", "Paint")), say(DONE)];
    let model = Model::start(&[("append", steps)]);
    let Some(agent) = Agent::find("claude", &model.url, workspace.root()) else {
        return;
    };
    let mut job = agent.job("append");
    job.tools = vec![format!("Bash({}:*)", cleo.display())];
    let ended = agent.drive(&job);
    assert_eq!(ended.denied_tools, [""; 0], "{ended:#?}");
    let entry = workspace.ask("manifest show paint-it-2026-01-26")["result"]["entry"].clone();
    assert_eq!(
        entry["key_findings"],
        json!([r#"It's "{x}" & $5."#; 3].as_slice())
    );
}

#[test]
fn codex_ends_for_its_model() {
    let cases: Vec<Case> = vec![(vec![Step::Fail(429, 99)], |_| {}, Outcome::RateLimited)];
    ends("codex", cases);
}

#[test]
#[ignore = "slow; the recorded streams have it"]
fn opencode_is_ended_for_its_turns() {
    let cases: Vec<Case> = vec![(
        again_and_again(),
        |job| job.limits.turns = Some(2),
        Outcome::Budget,
    )];
    ends("opencode", cases);
}

/// They try again and again, and say so each in its own way. Before the first time they may be silent for
/// long.
fn only_tries_again_and_was_refused(name: &str) {
    let idle: fn(&mut Job) = |job| job.limits.idle = Some(Duration::from_secs(120));
    ends(
        name,
        vec![(vec![Step::Fail(429, 99)], idle, Outcome::RateLimited)],
    );
}

#[test]
#[ignore = "slow; the recorded streams have it"]
fn those_that_only_try_again_were_refused_when_they_are_ended() {
    thread::scope(|scope| {
        for name in ["gemini", "opencode", "copilot"] {
            scope.spawn(move || only_tries_again_and_was_refused(name));
        }
    });
}

#[test]
#[ignore = "slow; the recorded streams have it"]
fn gemini_fails_after_cut_stream() {
    let steps = vec![Step::Break, say(DONE)];
    ends("gemini", vec![(steps, |_| {}, Outcome::AgentError)]);
}

#[test]
#[ignore = "slow; the recorded streams have it"]
fn way_to_sign_in_that_gemini_does_not_know_is_told() {
    let workspace = TestWorkspace::new();
    let model = Model::start(&[("any", vec![say(DONE)])]);
    let Some(agent) = Agent::find("gemini", &model.url, workspace.root()) else {
        return;
    };
    let settings = json!({"security": {"auth": {"selectedType": "none-such"}}});
    let path = agent.home.path().join(".gemini/settings.json");
    fs::write(path, settings.to_string()).unwrap();
    let ended = agent.play("any");
    assert_eq!(ended.outcome, Some(Outcome::AgentError), "{ended:#?}");
    assert_eq!(ended.exit_code, Some(41));
    assert!(ended.reason.unwrap().contains("auth"));
}

#[test]
fn all_at_once_write_to_one_manifest() {
    let names = ["claude", "codex", "gemini", "opencode", "copilot"];
    let workspace = TestWorkspace::new();
    let tasks = (1..=5).map(|n| json!({"title": format!("Paint {n}")}));
    let tasks: Vec<_> = tasks.collect();
    add(&workspace, &tasks);
    let mut plays = Vec::new();
    for n in 1..=5 {
        let id = format!("T{n}");
        spawn(&workspace, &[&id]);
        let (name, file) = (
            format!("paint-{n}-2026-01-26"),
            format!("2026-01-26_paint-{n}.md"),
        );
        let entry = entry_with(json!({"id": name, "file": file, "linked_tasks": [id]}));
        plays.push((
            id,
            work(
                &workspace,
                &OUTPUT.replace("paint-it", &format!("paint-{n}")),
                &entry,
            ),
        ));
    }
    let plays: Vec<_> = plays
        .iter()
        .map(|(id, steps)| (id.as_str(), steps.clone()))
        .collect();
    let model = Model::start(&plays);
    let agents = names.map(|name| Agent::find(name, &model.url, workspace.root()));
    if agents.iter().any(Option::is_none) {
        return;
    }
    thread::scope(|scope| {
        for ((id, _), agent) in plays.iter().zip(agents.into_iter().flatten()) {
            scope.spawn(move || {
                let ended = agent.play(id);
                assert_eq!(ended.outcome, Some(Outcome::Ok), "{id} {ended:#?}");
                assert_eq!(ended.message.as_deref(), Some(DONE), "{id} {ended:#?}");
                assert!(ended.conversation.is_some(), "{id} {ended:#?}");
                assert_eq!(ended.denied_tools, [""; 0], "{id} {ended:#?}");
            });
        }
    });
    for n in 1..=5 {
        let verdict = workspace.json(&["verify", "output", &format!("T{n}")]);
        assert_eq!(verdict["success"], true, "{verdict:#}");
    }
    workspace.result("manifest validate");
}
