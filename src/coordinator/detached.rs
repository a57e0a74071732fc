//! Runs in a process of their own: for faces that must be able to end while a run goes on.

use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;

use crate::error::{Code, Error, Result, quote, steers};
use crate::id::TaskId;
use crate::ops::Surroundings;
use crate::runner;

/// The program that carries runs out.
const PROGRAM: &str = "cleo-full";
/// How long the first word of a run is waited for.
const PATIENCE: Duration = Duration::from_secs(20);
/// Longest line that is looked at, in bytes.
const LINE_MAX: u64 = 16 << 20;
/// Longest name of a program or a model, in characters.
const NAME_MAX: usize = 200;

/// A run that goes on by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Begun {
    /// Its id.
    pub run: String,
    /// What somebody would type to begin the same.
    pub command: String,
}

/// Begins a run as it is wished, in a process of its own, and returns once the store has it.
pub fn begin(surroundings: &Surroundings, wish: &Wish) -> Result<Begun> {
    let words = wish.words()?;
    let told = first(surroundings, &words, Told::Line)?;
    begun(&told, &words)
}

/// Goes on with a run in a process of its own.
pub fn resume(surroundings: &Surroundings, run: &str) -> Result<Begun> {
    let words = ["runs", "resume", run].map(String::from);
    let told = first(surroundings, &words, Told::Line)?;
    begun(&told, &words)
}

/// Says what a run would do.
pub fn rehearse(surroundings: &Surroundings, wish: &Wish) -> Result<Value> {
    let wish = Wish {
        dry_run: true,
        ..wish.clone()
    };
    let told = first(surroundings, &wish.words()?, Told::Whole)?;
    match told.get("result") {
        Some(result) if told["success"] == true => Ok(result.clone()),
        _ => Err(refused(&told)),
    }
}

fn begun(told: &Value, words: &[String]) -> Result<Begun> {
    // The events of a plan come in envelopes.
    let run = told["runId"].as_str().or(told["result"]["run"].as_str());
    match run {
        Some(run) => Ok(Begun {
            run: run.to_string(),
            command: typed(words),
        }),
        None => Err(refused(told)),
    }
}

/// What is waited for.
#[derive(Clone, Copy)]
enum Told {
    /// The first event of a run, or why there is none.
    Line,
    /// The answer of something that ends at once.
    Whole,
}

/// Starts the program and returns what it says first.
fn first(surroundings: &Surroundings, words: &[String], what: Told) -> Result<Value> {
    let mut child = start(surroundings, words, what, &runner::beside(PROGRAM))?;
    let Some(output) = child.stdout.take() else {
        return Err(Error::new(Code::Internal, "the run has no output to read"));
    };
    let first = listen(output, what);
    let told = first.recv_timeout(PATIENCE);
    // Whoever has ended is to be taken off the list of processes.
    thread::spawn(move || child.wait());
    told.map_err(|_| {
        let message = "the run has not begun in time; it may still";
        Error::new(Code::RunTimeout, message).fix("cleo runs list")
    })
}

/// Writes the words of a command as they are typed.
fn typed(words: &[String]) -> String {
    let words: Vec<String> = words.iter().map(|word| quote(word)).collect();
    format!("cleo {}", words.join(" "))
}

/// Starts the program: no shell, nothing to read, and a process group of its own, so that what is
/// typed at the terminal of its starter does not end it.
fn start(
    surroundings: &Surroundings,
    words: &[String],
    what: Told,
    program: &Path,
) -> Result<Child> {
    let format = match what {
        Told::Line => "ndjson",
        Told::Whole => "json",
    };
    let root = surroundings.workspace()?.root;
    let started = Command::new(program)
        .arg0("cleo")
        .args(words)
        .args(["--format", format])
        .current_dir(&root)
        .env("CLEO_ROOT", &root)
        .env("CLEO_AGENT", &surroundings.actor)
        .env_remove("CLEO_TASK_ID")
        .env_remove("CLEO_EPOCH")
        .env_remove("CLEO_FORMAT")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn();
    started.map_err(|cause| {
        let message = format!("{} cannot be started: {cause}", program.display());
        Error::new(Code::ProgramMissing, message).fix("cargo install --path .")
    })
}

/// Reads the first line as JSON and hands it over; what follows is read and thrown away, so that the
/// run never waits for a reader.
fn listen(output: ChildStdout, what: Told) -> Receiver<Value> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut output = BufReader::new(output);
        let mut line = String::new();
        let mut start = output.by_ref().take(LINE_MAX);
        let read = match what {
            Told::Line => start.read_line(&mut line),
            Told::Whole => start.read_to_string(&mut line),
        };
        if read.is_ok() {
            let _ = sender.send(serde_json::from_str(&line).unwrap_or(Value::Null));
        }
        let _ = std::io::copy(&mut output, &mut std::io::sink());
    });
    receiver
}

/// Makes an error again of what a run answered that was refused.
fn refused(told: &Value) -> Error {
    let error = &told["error"];
    let code = error["code"].as_str().unwrap_or_default();
    let code = Code::ALL.iter().find(|known| known.name() == code);
    let message = error["message"]
        .as_str()
        .unwrap_or("the run ended before it began");
    let made = Error::new(code.copied().unwrap_or(Code::Internal), message);
    match error["fix"].as_str() {
        Some(fix) => made.fix(fix),
        None => made,
    }
}

/// A run as somebody wishes it; what is left out is as the settings say.
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct Wish {
    /// These tasks; of an epic everything below it.
    pub tasks: Vec<TaskId>,
    /// Everything below this epic.
    pub epic: Option<TaskId>,
    /// Only this wave of it, from 0.
    pub wave: Option<u32>,
    /// Everything that is ready now.
    pub all_ready: bool,
    /// What drives the agents, perhaps with a model.
    pub runner: Option<String>,
    /// The model.
    pub model: Option<String>,
    /// Most agents at a time.
    pub jobs: Option<u16>,
    /// How often an agent is told what is missing.
    pub repair: Option<u32>,
    /// What all may cost, in US dollars.
    pub max_cost: Option<f64>,
    /// Most turns of an agent.
    pub max_turns: Option<u32>,
    /// How long all may take, in seconds.
    pub time_limit: Option<u64>,
    /// How long an agent may take, in seconds.
    pub task_time_limit: Option<u64>,
    /// How long an agent may be silent, in seconds.
    pub idle_limit: Option<u64>,
    /// Give each task a git worktree of its own.
    pub isolate: bool,
    /// Begin nothing more after a failure.
    pub fail_fast: bool,
    /// Only say what would be done.
    pub dry_run: bool,
}

impl Wish {
    /// Writes the words of the command that carries it out. What they mean is for that command to
    /// check; here it is made sure that each stays one word.
    pub fn words(&self) -> Result<Vec<String>> {
        let mut words = vec!["run".to_string()];
        let mut option = |name: &str, value: Option<String>| {
            words.extend(value.map(|value| format!("--{name}={value}")));
        };
        let seconds = |time: Option<u64>| time.map(|time| format!("{time}s"));
        option("epic", self.epic.map(|epic| epic.to_string()));
        option("wave", self.wave.map(|wave| wave.to_string()));
        option("runner", plain("runner", self.runner.as_deref())?);
        option("model", plain("model", self.model.as_deref())?);
        option("jobs", self.jobs.map(|jobs| jobs.to_string()));
        option("repair", self.repair.map(|repair| repair.to_string()));
        option("max-cost", self.max_cost.map(|cost| cost.to_string()));
        option("max-turns", self.max_turns.map(|turns| turns.to_string()));
        option("time-limit", seconds(self.time_limit));
        option("task-time-limit", seconds(self.task_time_limit));
        option("idle-limit", seconds(self.idle_limit));
        option("isolate", self.isolate.then(|| "worktree".to_string()));
        let flags = [
            (self.all_ready, "--all-ready"),
            (self.fail_fast, "--fail-fast"),
            (self.dry_run, "--dry-run"),
        ];
        words.extend(
            flags
                .iter()
                .filter(|(is_set, _)| *is_set)
                .map(|(_, flag)| flag.to_string()),
        );
        words.extend(self.tasks.iter().map(TaskId::to_string));
        Ok(words)
    }
}

/// Refuses what is no name of a program or a model.
fn plain(what: &str, name: Option<&str>) -> Result<Option<String>> {
    let Some(name) = name else { return Ok(None) };
    if !name.trim().is_empty() && name.chars().count() <= NAME_MAX && !name.contains(steers) {
        return Ok(Some(name.to_string()));
    }
    let message = format!("the {what} must be one line of at most {NAME_MAX} visible characters");
    Err(Error::new(Code::InputInvalid, message).fix("cleo run --help"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_value_becomes_an_option_of_its_own() {
        let wish = Wish {
            tasks: vec![TaskId(3)],
            runner: Some("--command=rm -rf /".into()),
            jobs: Some(2),
            time_limit: Some(90),
            fail_fast: true,
            ..Wish::default()
        };
        let expected = [
            "run",
            "--runner=--command=rm -rf /",
            "--jobs=2",
            "--time-limit=90s",
            "--fail-fast",
            "T3",
        ];
        assert_eq!(wish.words().unwrap(), expected);
        assert!(typed(&expected.map(String::from)).contains("'--runner=--command=rm -rf /'"));
    }

    #[test]
    fn names_are_one_line_and_short() {
        for name in [
            "",
            " ",
            "a\nb",
            "a\0b",
            "\u{1b}[31m",
            &"x".repeat(NAME_MAX + 1),
        ] {
            let wish = Wish {
                model: Some(name.into()),
                ..Wish::default()
            };
            assert_eq!(
                wish.words().unwrap_err().code,
                Code::InputInvalid,
                "{name:?}"
            );
        }
    }

    #[test]
    fn the_first_event_of_a_run_names_it_whatever_it_carries_out() {
        let words = ["runs", "resume", "exec_1"].map(String::from);
        for told in [
            serde_json::json!({"cursor": 1, "type": "run.resumed", "runId": "exec_1"}),
            serde_json::json!({"success": true, "result": {"cursor": 1, "run": "exec_1"}}),
        ] {
            let begun = begun(&told, &words).unwrap();
            assert_eq!(begun.run, "exec_1");
            assert_eq!(begun.command, "cleo runs resume exec_1");
        }
    }

    #[test]
    fn what_a_run_refuses_is_refused_with_its_code() {
        let told = serde_json::json!({"error": {"code": "E_TASK_NOT_FOUND", "message": "no", "fix": "cleo list"}});
        let error = refused(&told);
        assert_eq!(
            (error.code, error.fix.as_deref()),
            (Code::TaskNotFound, Some("cleo list"))
        );
        assert_eq!(refused(&Value::Null).code, Code::Internal);
    }
}
