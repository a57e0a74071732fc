//! Starts runs in a process of their own, for front ends that may exit while a run continues.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

use serde_json::Value;

use crate::error::{Code, Error, Result, quote_all};
use crate::ops::{Assignment, Surroundings};
use crate::runner::{self, child, mark_kept};

use super::request::RunRequest;

const PATIENCE: Duration = Duration::from_secs(20);
/// Longest line that is looked at, in bytes.
const LINE_MAX: u64 = 16 << 20;

/// Begins a run in a process of its own by a command of cleo, and returns its id once the store has it. The process reads
/// a plan from standard input: no file is left, and the list of processes does not show it.
pub(crate) fn begin(
    surroundings: &Surroundings,
    words: &[String],
    input: Option<String>,
) -> Result<String> {
    read_run(&first_line(surroundings, words, input)?)
}

pub(crate) fn rehearse(surroundings: &Surroundings, request: &RunRequest) -> Result<Value> {
    let request = RunRequest {
        dry_run: true,
        ..request.clone()
    };
    let told = first_line(surroundings, &request.words()?, None)?;
    match told.get("result") {
        Some(result) if told["success"] == true => Ok(result.clone()),
        _ => Err(read_refusal(&told)),
    }
}

fn read_run(told: &Value) -> Result<String> {
    let run = told["runId"].as_str().map(String::from);
    run.ok_or_else(|| read_refusal(told))
}

/// Starts cleo and returns its first line: the first event of a run, or the answer of what ends at once.
fn first_line(
    surroundings: &Surroundings,
    words: &[String],
    input: Option<String>,
) -> Result<Value> {
    let root = surroundings.workspace()?.root;
    let mut command = command(&root, &surroundings.actor, words);
    let mut child = start(&mut command, input)?;
    let Some(output) = child.stdout.take() else {
        return Err(Error::new(Code::Internal, "the run has no output to read"));
    };
    let told = listen(output).recv_timeout(PATIENCE);
    // A process that has ended stays in the list of processes until it is reaped.
    thread::spawn(move || child.wait());
    told.map_err(|_| {
        let message = "the run has not told in time that it began; it may still";
        Error::new(Code::RunTimeout, message).fix("cleo runs list")
    })
}

/// Writes the command that begins the same run from a shell.
pub(crate) fn format_command(words: &[String]) -> String {
    format!("cleo {}", quote_all(words))
}

/// Makes the command: no shell, and a process group of its own, so that Ctrl-C in the caller's terminal does
/// not end it.
fn command(root: &Path, actor: &str, words: &[String]) -> Command {
    let mut command = child::build_command(runner::find_own_program(), root);
    command
        .arg0("cleo")
        .args(words)
        .args(["--format", "ndjson"])
        .env("CLEO_ROOT", root)
        .env("CLEO_AGENT", actor)
        .env_remove("CLEO_FORMAT")
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .process_group(0);
    // It outlives the process that begins it.
    mark_kept(&mut command);
    // The assignment of an agent does not extend to the runs that it begins.
    for name in Assignment::VARIABLES {
        command.env_remove(name);
    }
    command
}

/// Starts the program. A thread writes its input, because the program may exit before it has read all of it.
fn start(command: &mut Command, input: Option<String>) -> Result<Child> {
    command.stdin(match input {
        Some(_) => Stdio::piped(),
        None => Stdio::null(),
    });
    let started = command.spawn();
    let mut child = started.map_err(|cause| {
        let program = Path::new(command.get_program()).display();
        let message = format!("{program} cannot be started: {cause}");
        Error::new(Code::Internal, message).because(cause)
    })?;
    if let (Some(mut pipe), Some(input)) = (child.stdin.take(), input) {
        thread::spawn(move || pipe.write_all(input.as_bytes()));
    }
    Ok(child)
}

/// Reads the first line as JSON and passes it on; the rest is read and discarded, so that the run never waits
/// for a reader.
fn listen(output: ChildStdout) -> Receiver<Value> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut output = BufReader::new(output);
        let mut line = String::new();
        if output.by_ref().take(LINE_MAX).read_line(&mut line).is_ok() {
            let _ = sender.send(serde_json::from_str(&line).unwrap_or(Value::Null));
        }
        let _ = std::io::copy(&mut output, &mut std::io::sink());
    });
    receiver
}

/// Queue the JSON of a refusal back into an error.
fn read_refusal(told: &Value) -> Error {
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_its_starter_was_given_to_do_is_nothing_of_run() {
        let words = ["runs", "resume", "exec_1"].map(String::from);
        let command = command(Path::new("/w"), "ann", &words);
        let set = |wanted: &str| {
            let mut variables = command.get_envs();
            let found = variables.find(|(name, _)| *name == wanted);
            found.map(|(_, value)| value.and_then(|value| value.to_str()))
        };
        for name in Assignment::VARIABLES {
            assert_eq!(set(name), Some(None), "{name}");
        }
        assert_eq!(set("CLEO_AGENT"), Some(Some("ann")));
    }

    #[test]
    fn first_event_of_run_names_it() {
        let told = json!({"cursor": 1, "type": "run.resumed", "runId": "exec_1"});
        assert_eq!(read_run(&told).unwrap(), "exec_1");
    }

    #[test]
    fn refusal_of_a_run_keeps_its_code() {
        let told =
            json!({"error": {"code": "E_TASK_NOT_FOUND", "message": "no", "fix": "cleo list"}});
        let error = read_refusal(&told);
        assert_eq!(
            (error.code, error.fix.as_deref()),
            (Code::TaskNotFound, Some("cleo list"))
        );
        assert_eq!(read_refusal(&Value::Null).code, Code::Internal);
    }
}
