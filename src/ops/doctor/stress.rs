//! `doctor --stress`: many writers at once, some of them killed, and then a count. In a workspace
//! of its own, which is gone afterwards.

mod leftovers;

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde::Serialize;

use crate::error::{Code, Error, Result};
use crate::id::TaskId;
use crate::manifest::log::{self, Line};
use crate::runner::signals::Guard;
use crate::store::{Filter, Store};
use crate::workspace::Workspace;

/// One write in so many is killed, beginning with the first.
const KILLED: usize = 4;
/// One write in so many goes to the manifest; the others add a task.
const APPENDED: u64 = 3;

/// How hard to try.
#[derive(Clone, Debug)]
pub struct Options {
    /// The program that writes: this one.
    pub program: PathBuf,
    /// How many write at once.
    pub writers: u32,
    /// For how long.
    pub duration: Duration,
}

/// What was tried and what is there.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Stressed {
    /// How many wrote at once.
    pub writers: u32,
    /// For how many seconds.
    pub seconds: f64,
    /// How many writes were begun.
    pub begun: usize,
    /// How many were acknowledged.
    pub acknowledged: usize,
    /// How many were killed before they answered.
    pub killed: usize,
    /// How many were refused, which should be none.
    pub refused: usize,
    /// How long the slowest acknowledged write took, in milliseconds.
    pub slowest_ms: u64,
    /// Tasks that are there.
    pub tasks: usize,
    /// Entries of the manifest that are there.
    pub entries: usize,
    /// Acknowledged writes that are not there.
    pub lost: Vec<String>,
    /// What else is wrong.
    pub broken: Vec<String>,
}

/// What became of one write.
struct Write {
    name: String,
    answer: Answer,
    took: Duration,
}

enum Answer {
    Acknowledged(Option<TaskId>),
    Killed,
    Refused(String),
}

/// Writes and kills, then counts. The error is the verdict, when something acknowledged is lost.
pub fn stress(options: &Options) -> Result<(Stressed, Option<Error>)> {
    let unwritable = |cause: std::io::Error| {
        Error::new(
            Code::FileUnwritable,
            format!("no scratch folder can be made: {cause}"),
        )
        .fix("df /tmp")
    };
    let above = std::env::temp_dir();
    leftovers::remove(&above);
    let scratch = tempfile::Builder::new()
        .prefix(leftovers::PREFIX)
        .tempdir_in(&above)
        .map_err(unwritable)?;
    let _in_use = leftovers::mark(scratch.path()).map_err(unwritable)?;
    let (workspace, _) = Workspace::create(scratch.path())?;
    let guard = Guard::begin()?;
    let start = Instant::now();
    let writes: Vec<Write> = thread::scope(|scope| {
        let (root, guard) = (scratch.path(), &guard);
        let begin = |writer| scope.spawn(move || write(options, writer, root, start, guard));
        let writers: Vec<_> = (0..options.writers).map(begin).collect();
        let done = writers.into_iter().filter_map(|writer| writer.join().ok());
        done.flatten().collect()
    });
    let seconds = start.elapsed().as_secs_f64();
    if let Some(code) = guard.end() {
        return Err(Error::new(
            code,
            "stopped while writers wrote; what they wrote is gone",
        ));
    }
    let counted = count(&workspace, &writes)?;
    let stressed = Stressed {
        writers: options.writers,
        seconds,
        ..counted
    };
    let error = verdict(&stressed);
    Ok((stressed, error))
}

fn verdict(stressed: &Stressed) -> Option<Error> {
    let first = stressed
        .lost
        .first()
        .map(|lost| format!("{lost} was acknowledged and is not there"));
    let first = first.or_else(|| stressed.broken.first().cloned())?;
    let problems = stressed.lost.len() + stressed.broken.len();
    let message = format!("{first}; problems in all: {problems}");
    Some(Error::new(Code::WritesLost, message).fix("cleo doctor --stress"))
}

/// Writes one thing after the other until the time is up.
fn write(options: &Options, writer: u32, root: &Path, start: Instant, guard: &Guard) -> Vec<Write> {
    let mut chance = Chance::new(u64::from(writer) + 1);
    let mut writes: Vec<Write> = Vec::new();
    while start.elapsed() < options.duration && guard.caught().is_none() {
        let name = format!("write-{writer}-{}", writes.len());
        let is_task = !chance.below(APPENDED).eq(&0);
        // A kill comes at any moment of the time that writes usually take.
        let usual = writes.last().map_or(20_000, |last| last.took.as_micros());
        let usual = u64::try_from(usual)
            .unwrap_or(u64::MAX)
            .clamp(2_000, 200_000);
        let moment = Duration::from_micros(chance.below(usual));
        let kill = writes.len().is_multiple_of(KILLED).then_some(moment);
        let begun = Instant::now();
        let answer = once(options, &command(&name, is_task), root, kill);
        writes.push(Write {
            name,
            answer,
            took: begun.elapsed(),
        });
    }
    writes
}

fn command(name: &str, is_task: bool) -> Vec<String> {
    let words: &[&str] = if is_task {
        &["add", name]
    } else {
        &[
            "manifest",
            "append",
            "--id",
            name,
            "--file",
            "stress.md",
            "--title",
            name,
            "--topic",
            "stress",
            "--finding",
            "One.",
            "--finding",
            "Two.",
            "--finding",
            "Three.",
        ]
    };
    words.iter().map(|word| word.to_string()).collect()
}

fn once(options: &Options, words: &[String], root: &Path, kill: Option<Duration>) -> Answer {
    let child = Command::new(&options.program)
        .args(["--json", "--root"])
        .arg(root)
        .args(words)
        .current_dir(root)
        .env_clear()
        .env("HOME", root)
        .env("CLEO_AGENT", "stress")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn();
    let mut child = match child {
        Ok(child) => child,
        Err(cause) => return Answer::Refused(format!("cannot be started: {cause}")),
    };
    if let Some(moment) = kill {
        thread::sleep(moment);
        // One that has ended already is collected below and counts as it ended.
        let _ = child.kill();
    }
    match child.wait_with_output() {
        Ok(output) => read(&output, kill.is_some()),
        Err(cause) => Answer::Refused(cause.to_string()),
    }
}

/// Reads an answer. What stands there whole is an acknowledgement, also of one that was killed a
/// moment later.
fn read(output: &std::process::Output, was_killed: bool) -> Answer {
    let answer: Option<serde_json::Value> = serde_json::from_slice(&output.stdout).ok();
    match answer {
        Some(answer) if answer["success"] == true => {
            let id = answer["result"]["task"]["id"].as_str();
            Answer::Acknowledged(id.and_then(|id| id.parse().ok()))
        }
        None if was_killed && output.status.code().is_none() => Answer::Killed,
        Some(answer) => Answer::Refused(answer["error"]["message"].to_string()),
        None => Answer::Refused(output.status.to_string()),
    }
}

/// Compares what was acknowledged with what is there.
fn count(workspace: &Workspace, writes: &[Write]) -> Result<Stressed> {
    let there = There::read(workspace)?;
    let acknowledged = writes.iter().filter(|write| write.is_acknowledged());
    let slowest = acknowledged.clone().map(|write| write.took).max();
    let killed = |write: &&Write| matches!(write.answer, Answer::Killed);
    let refusals: Vec<String> = writes.iter().filter_map(Write::refusal).collect();
    let lost = writes.iter().filter(|write| !there.has(write));
    let store = workspace.open_store()?;
    Ok(Stressed {
        writers: 0,
        seconds: 0.0,
        begun: writes.len(),
        acknowledged: acknowledged.count(),
        killed: writes.iter().filter(killed).count(),
        refused: refusals.len(),
        slowest_ms: u64::try_from(slowest.unwrap_or_default().as_millis()).unwrap_or(u64::MAX),
        tasks: there.tasks.len(),
        entries: there.entries.len(),
        lost: lost.map(|write| write.name.clone()).collect(),
        broken: [
            there.faults,
            store.broken_pages()?,
            store.disagreements()?,
            refusals,
        ]
        .concat(),
    })
}

impl Write {
    fn is_acknowledged(&self) -> bool {
        matches!(self.answer, Answer::Acknowledged(_))
    }

    fn refusal(&self) -> Option<String> {
        match &self.answer {
            Answer::Refused(why) => Some(format!("{} was refused: {why}", self.name)),
            _ => None,
        }
    }
}

/// What is there in the end.
struct There {
    tasks: BTreeMap<TaskId, String>,
    entries: HashSet<String>,
    faults: Vec<String>,
}

impl There {
    fn read(workspace: &Workspace) -> Result<There> {
        let (mut entries, mut faults) = (HashSet::new(), Vec::new());
        log::scan(&workspace.manifest()?, |line| match line {
            Line::Entry(_, fields) => {
                entries.insert(fields.id().unwrap_or_default().to_string());
            }
            Line::Faulty(faulty) => faults.push(format!("the manifest: {faulty}")),
        })?;
        Ok(There {
            tasks: titles(workspace)?,
            entries,
            faults,
        })
    }

    /// Says whether everything that was acknowledged of a write is there.
    fn has(&self, write: &Write) -> bool {
        match &write.answer {
            Answer::Acknowledged(Some(id)) => self.tasks.get(id) == Some(&write.name),
            Answer::Acknowledged(None) => self.entries.contains(&write.name),
            _ => true,
        }
    }
}

fn titles(workspace: &Workspace) -> Result<BTreeMap<TaskId, String>> {
    let mut store = workspace.open_store()?;
    let page = store.read()?.list(&Filter::default())?;
    let titles = page.tasks.into_iter().map(|task| (task.id, task.title));
    Ok(titles.collect())
}

/// Numbers that nobody foresees (xorshift): moments to kill at need be no better.
struct Chance(u64);

impl Chance {
    fn new(seed: u64) -> Chance {
        let pid = u64::from(std::process::id());
        Chance((pid << 20 | seed).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit.max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_acknowledged_and_is_not_there_is_a_loss() {
        let folder = tempfile::tempdir().unwrap();
        let (workspace, _) = Workspace::create(folder.path()).unwrap();
        let write = |name: &str, answer| Write {
            name: name.to_string(),
            answer,
            took: Duration::from_millis(3),
        };
        let killed = write("killed", Answer::Killed);
        let sound = count(&workspace, std::slice::from_ref(&killed)).unwrap();
        assert!(verdict(&sound).is_none());
        let writes = [
            killed,
            write("task", Answer::Acknowledged(Some(TaskId(1)))),
            write("entry", Answer::Acknowledged(None)),
        ];
        let counted = count(&workspace, &writes).unwrap();
        assert_eq!(counted.lost, ["task", "entry"]);
        assert_eq!(
            (counted.acknowledged, counted.killed, counted.slowest_ms),
            (2, 1, 3)
        );
        assert_eq!(
            verdict(&counted).map(|error| error.code),
            Some(Code::WritesLost)
        );
        let refused = [write("other", Answer::Refused("full".to_string()))];
        assert!(verdict(&count(&workspace, &refused).unwrap()).is_some());
    }
}
