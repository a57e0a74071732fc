//! One attempt of an agent, with scripts that play it: what it gets, what is kept, when it is ended,
//! and that nothing of it is left.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use std::{fs, thread};

use crate::run::event::AgentEnd;
use crate::run::log::{self, Stream};
use crate::run::{Outcome, Spent, TaskEvent};
use crate::runner::agent::{
    CommandLine, Invocation, Job, Limits, OutputState, Runner, Runners, drive,
};
use crate::runner::signals;
use rustix::fs::{Mode, OFlags};
use tempfile::TempDir;

/// A folder in which scripts play agents.
struct Stage {
    folder: TempDir,
}

impl Stage {
    fn new() -> Stage {
        let folder = tempfile::tempdir().unwrap();
        // A run makes its folder before its agents begin.
        fs::create_dir(folder.path().join("raw")).unwrap();
        Stage { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn job(&self, prompt: &str) -> Job {
        Job {
            prompt: prompt.to_string(),
            output_file: self.path("output.md"),
            folder: self.folder.path().to_path_buf(),
            environment: vec![("CLEO_TASK_ID".into(), "T1".into())],
            passed: Vec::new(),
            model: None,
            resume: None,
            before: Spent::default(),
            tools: Vec::new(),
            program: None,
            limits: Limits {
                time: Some(Duration::from_secs(60)),
                ..Limits::default()
            },
            raw: self.path("raw/T1-1"),
        }
    }

    /// Plays a script to its end.
    fn play(&self, script: &str) -> AgentEnd {
        play(script, &self.job("Do it."))
    }

    /// Returns what the log has of an output.
    fn read_log(&self, stream: Stream) -> String {
        log::join_stream(self.read("raw/T1-1.log").as_bytes(), stream)
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }
}

fn play(script: &str, job: &Job) -> AgentEnd {
    drive(&shell(script), job, &mut |_| {}).unwrap()
}

fn shell(script: &str) -> CommandLine {
    CommandLine::read(&shlex::try_join(["sh", "-c", script]).unwrap()).unwrap()
}

/// Returns whether no process has the pipe open any more that a script made with `mkfifo`.
fn is_alone(pipe: &Path) -> bool {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK;
    let pipe = rustix::fs::open(pipe, flags, Mode::empty()).unwrap();
    // While there is a writer, there may be something to read later.
    rustix::io::read(&pipe, &mut [0; 1]) == Ok(0)
}

/// Waits until no process has such a pipe open any more: where many tests share a process, an agent of
/// another one may have to end first.
fn is_soon_alone(pipe: &Path) -> bool {
    (0..1_000).any(|_| {
        thread::sleep(Duration::from_millis(20));
        is_alone(pipe)
    })
}

#[test]
fn agent_gets_prompt_and_its_output_is_logged() {
    let stage = Stage::new();
    let ended = stage.play("cat; echo; echo doubt >&2; echo Done.");
    assert_eq!(ended.outcome, Some(Outcome::Ok));
    assert_eq!(ended.message.as_deref(), Some("Done."));
    assert_eq!(ended.stderr_tail, ["doubt"]);
    assert_eq!(stage.read_log(Stream::Out), "Do it.\nDone.\n");
    assert_eq!(stage.read_log(Stream::Err), "doubt\n");
}

#[test]
fn log_has_lines_in_their_order() {
    let stage = Stage::new();
    // Each round waits until the one before was read.
    stage.play(
        "for n in 1 2 3; do
             echo warn$n >&2
             until grep -qs warn$n raw/T1-1.log; do sleep 0.01; done
             printf 'result\\t\\376'; echo $n
             until grep -qs \"$n\\\"}$\" raw/T1-1.log; do sleep 0.01; done
         done; printf last",
    );
    let log = stage.read("raw/T1-1.log");
    let entries: Vec<_> = log::read(log.as_bytes()).collect();
    let texts: Vec<_> = entries.iter().map(|one| one.text.as_ref()).collect();
    let round = |n: usize| [format!("warn{n}"), format!("result\t\u{fffd}{n}")];
    let rounds = (1..4).flat_map(round).chain(["last".to_string()]);
    assert_eq!(texts, rounds.collect::<Vec<_>>());
    assert!(entries.is_sorted_by_key(|one| one.ms));
    assert_eq!(
        (entries[0].stream, entries[1].stream),
        (Stream::Err, Stream::Out)
    );
}

#[test]
fn large_prompt_need_not_be_read() {
    let stage = Stage::new();
    let long = "x".repeat(1 << 20);
    let ended = play("wc -c | tr -d ' '", &stage.job(&long));
    assert_eq!(ended.message.as_deref(), Some("1048576"));
    let ended = play("exec <&-; echo unread", &stage.job(&long));
    assert_eq!(ended.message.as_deref(), Some("unread"));
}

#[test]
fn agent_gets_chosen_env() {
    let stage = Stage::new();
    let ended = stage.play("env | cut -d= -f1 | sort | tr '\\n' ' '");
    let names = ended.message.unwrap();
    assert!(names.contains("CLEO_TASK_ID") && names.contains("PATH"));
    // The runner of this test has variables of cargo.
    assert!(!names.contains("CARGO_"), "{names}");
    let mut job = stage.job("");
    job.passed = vec!["CARGO_*".to_string()];
    let ended = play("env | grep -c ^CARGO_", &job);
    assert_ne!(
        ended.message.as_deref(),
        Some("0"),
        "allowed work continues"
    );
}

#[test]
fn nonzero_exit_code_is_failure_with_reason() {
    let ended = Stage::new().play("echo out of luck >&2; exit 3");
    assert_eq!(ended.outcome, Some(Outcome::AgentError));
    let reason = "it ended with exit code 3: out of luck";
    assert_eq!(ended.reason.as_deref(), Some(reason));
    let ended = Stage::new().play("kill -KILL $$");
    assert_eq!(ended.exit_code, None);
    assert_eq!(ended.reason.as_deref(), Some("a signal ended it"));
}

#[test]
fn missing_program_or_folder_is_error() {
    let runner = CommandLine::read("no-such-agent-at-all").unwrap();
    let stage = Stage::new();
    let mut job = stage.job("");
    let error = drive(&runner, &job, &mut |_| {}).unwrap_err();
    assert_eq!(error.code.name(), "E_PROGRAM_MISSING");
    job.folder.push("gone");
    let error = drive(&shell("true"), &job, &mut |_| {}).unwrap_err();
    assert_eq!(error.code.name(), "E_FILE_UNREADABLE");
}

#[test]
fn slow_or_silent_agent_is_stopped() {
    let stage = Stage::new();
    let limits = [
        (Some(Duration::from_millis(300)), None, "it took longer"),
        (None, Some(Duration::from_millis(300)), "it was silent"),
    ];
    for (time, idle, reason) in limits {
        let mut job = stage.job("");
        job.limits = Limits {
            time,
            idle,
            ..Limits::default()
        };
        let ended = play("sleep 300", &job);
        assert_eq!(ended.outcome, Some(Outcome::Timeout));
        assert!(ended.reason.unwrap().starts_with(reason));
        assert_eq!(ended.exit_code, None);
    }
}

/// A runner whose program is played by a script.
struct Played(Box<dyn Runner>, &'static str);

impl Runner for Played {
    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn invocation(&self, _: &Job) -> Invocation {
        Invocation {
            words: ["sh", "-c", self.1].map(String::from).to_vec(),
            ..Invocation::default()
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

#[test]
fn agent_that_only_retries_counts_as_idle_and_rate_limited() {
    for (name, script, outcome) in [
        (
            "gemini",
            "while echo 'Attempt 2 failed with status 429. Retrying with backoff...' >&2; do sleep 0.05; done",
            Outcome::RateLimited,
        ),
        (
            "copilot",
            "while echo '{\"type\":\"assistant.turn_retry\",\"data\":{\"reason\":\"rate_limit\"}}'; do sleep 0.05; done",
            Outcome::RateLimited,
        ),
        (
            "claude",
            "while echo '{\"type\":\"system\",\"subtype\":\"api_retry\",\"error_status\":529}'; do sleep 0.05; done",
            Outcome::RateLimited,
        ),
        (
            "codex",
            "while echo '{\"type\":\"error\",\"message\":\"Reconnecting... 429 Too Many Requests\"}'; do sleep 0.05; done",
            Outcome::RateLimited,
        ),
        // Its model answers again.
        (
            "gemini",
            "echo 'Attempt 1 failed with status 429' >&2; sleep 0.2; echo '{\"type\":\"init\"}'; sleep 60",
            Outcome::Timeout,
        ),
        (
            "gemini",
            "echo 'Attempt 1 failed with status 503' >&2; sleep 60",
            Outcome::Timeout,
        ),
    ] {
        let stage = Stage::new();
        let mut job = stage.job("");
        job.limits.idle = Some(Duration::from_secs(1));
        let runner = Played(Runners::default().find(name, None).unwrap(), script);
        let ended = drive(&runner, &job, &mut |_| {}).unwrap();
        assert_eq!(ended.outcome, Some(outcome), "{name} {ended:?}");
        assert!(ended.reason.unwrap().contains("silent"));
    }
}

#[test]
fn message_names_cost_limit_that_was_given() {
    let done = "echo '{\"type\":\"result\",\"total_cost_usd\":0.5}'; sleep 60";
    for (budget, before, reason) in [
        (None, 0.0, "it cost more than 0.25 USD"),
        (
            Some(2.0),
            0.0,
            "with it the run cost more than the 2 USD given",
        ),
        // The earlier cost of its conversation is paid.
        (None, 0.4, "it took longer"),
    ] {
        let stage = Stage::new();
        let mut job = stage.job("");
        job.before.cost = Some(before);
        job.limits = Limits {
            time: Some(Duration::from_secs(3)),
            cost: Some(0.25),
            budget,
            ..Limits::default()
        };
        let runner = Played(Runners::default().find("claude", None).unwrap(), done);
        let ended = drive(&runner, &job, &mut |_| {}).unwrap();
        assert!(ended.reason.unwrap().starts_with(reason), "{reason}");
    }
}

#[test]
fn output_is_not_written_through_link() {
    let stage = Stage::new();
    let mine = stage.path("mine");
    fs::write(&mine, "precious").unwrap();
    std::os::unix::fs::symlink(&mine, stage.path("raw/T1-1.log")).unwrap();
    stage.play("echo evil");
    assert_eq!(stage.read("mine"), "precious");
    assert_eq!(stage.read_log(Stream::Out), "evil\n");
}

#[test]
fn agent_with_output_is_not_silent() {
    let stage = Stage::new();
    let mut job = stage.job("");
    job.limits.idle = Some(Duration::from_secs(20));
    let ended = play("for n in 1 2 3; do sleep 0.1; echo $n >&2; done", &job);
    assert_eq!(ended.outcome, Some(Outcome::Ok));
}

#[test]
fn agent_is_stopped_on_request() {
    let stage = Stage::new();
    let stop = Arc::new(AtomicBool::new(false));
    let mut started = |sign| {
        assert!(matches!(sign, TaskEvent::AgentStarted { .. }));
        stop.store(true, Ordering::Relaxed);
    };
    let flag = Arc::clone(&stop);
    let is_stopped = move || flag.load(Ordering::Relaxed);
    let play = || drive(&shell("sleep 300"), &stage.job(""), &mut started).unwrap();
    let ended = signals::run_until(is_stopped, play);
    assert_eq!(ended.outcome, Some(Outcome::Cancelled));
}

#[test]
fn stubborn_agent_is_killed_and_its_last_output_kept() {
    let stage = Stage::new();
    let mut job = stage.job("");
    job.limits.time = Some(Duration::from_secs(1));
    let ended = play(
        "trap 'echo not yet' TERM; while :; do sleep 0.1; done",
        &job,
    );
    assert_eq!(ended.outcome, Some(Outcome::Timeout));
    assert_eq!(stage.read_log(Stream::Out), "not yet\n");
}

#[test]
#[cfg(target_os = "linux")]
fn nothing_that_agent_started_outlives_it() {
    let ends = ["exit 0", "exit 1", "sleep 300"];
    let leaves = [
        "sleep 300 &",
        "setsid sleep 300 &",
        // As a cleo that this agent starts marks its own.
        "CLEO_MARK=${CLEO_MARK}inner. setsid sleep 300 &",
        "setsid sh -c 'sleep 300 & setsid sleep 300' &",
        "(setsid sh -c 'sleep 300 & setsid sleep 300 >&- 2>&-' >&- 2>&- &) &",
    ];
    for end in ends {
        for leave in leaves {
            let stage = Stage::new();
            let mut job = stage.job("");
            if end.starts_with("sleep") {
                job.limits.time = Some(Duration::from_secs(2));
            }
            // A process that holds the pipe open is alive.
            let script = format!("mkfifo alive; exec 3<>alive; {leave} {end}");
            play(&script, &job);
            assert!(is_alone(&stage.path("alive")), "{leave} {end}");
        }
    }
}

#[test]
fn concurrent_agents_kill_only_own_descendants() {
    let slow = Stage::new();
    let begun = AtomicBool::new(false);
    thread::scope(|scope| {
        let other = scope.spawn(|| {
            let script = "setsid sleep 2 & echo $! >started; wait $! && echo Done.";
            let mut begin = |_| begun.store(true, Ordering::Relaxed);
            drive(&shell(script), &slow.job(""), &mut begin).unwrap()
        });
        while !slow.path("started").exists() {
            thread::yield_now();
        }
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..3 {
                    Stage::new().play("setsid sleep 300 & sleep 300 & exit 0");
                }
            });
        }
        let ended = other.join().unwrap();
        assert_eq!(ended.message.as_deref(), Some("Done."), "{ended:?}");
    });
}

#[test]
#[cfg(target_os = "linux")]
fn unmarked_process_ends_with_last_possible_parent() {
    let (slow, quick) = (Stage::new(), Stage::new());
    let hold = "mkfifo alive; exec 3<>alive; env -i setsid sleep 300 &";
    thread::scope(|scope| {
        let other = scope.spawn(|| {
            // Its child loses its parent at once, and it needs it to the end.
            let script = format!("({hold}); touch begun; until [ -e over ]; do sleep 0.05; done");
            drive(&shell(&script), &slow.job(""), &mut |_| {}).unwrap()
        });
        while !slow.path("begun").exists() {
            thread::yield_now();
        }
        quick.play(hold);
        assert!(
            !is_alone(&slow.path("alive")),
            "it is of one that still runs"
        );
        assert!(
            !is_alone(&quick.path("alive")),
            "it may be of one that still runs"
        );
        fs::write(slow.path("over"), "").unwrap();
        let ended = other.join().unwrap();
        assert_eq!(ended.outcome, Some(Outcome::Ok), "{ended:?}");
    });
    assert!(is_soon_alone(&slow.path("alive")));
    assert!(is_soon_alone(&quick.path("alive")));
}

#[test]
#[cfg(target_os = "linux")]
fn process_without_env_outlives_no_agents() {
    for leave in [
        "env -i setsid sleep 300 &",
        "setsid env -i sh -c 'sleep 300 & setsid sleep 300 >&- 2>&-' >&- 2>&- &",
        "CLEO_MARK=${CLEO_MARK}inner. setsid env -i setsid sh -c 'sleep 300; sleep 300' &",
        // It joins the group of cleo, which is the parent of its shell.
        "env -i perl -e 'fork and exit; setpgrp 0, getpgrp shift; exec qw(sleep 300)' $PPID &",
    ] {
        let stage = Stage::new();
        stage.play(&format!("mkfifo alive; exec 3<>alive; {leave} exit 0"));
        assert!(is_soon_alone(&stage.path("alive")), "{leave}");
    }
}

#[test]
fn output_over_limit_is_counted_and_omitted() {
    let stage = Stage::new();
    let lines = "head -c 20000000 /dev/zero | tr '\\0' 'y' | fold -w 1000000; echo";
    let ended = stage.play(&format!("{lines}; {lines}; echo warn >&2; echo Done."));
    assert_eq!(ended.outcome, Some(Outcome::Ok));
    assert_eq!(ended.message.as_deref(), Some("Done."));
    let written = stage.read_log(Stream::Out);
    let (kept, note) = written.trim_end().rsplit_once('\n').unwrap();
    let left_out = 40_000_000 + 40 + 6 - (kept.len() + 1);
    assert_eq!(note, format!("[cleo left out {left_out} more bytes]"));
    assert!(
        (16_000_000..16 << 20).contains(&kept.len()),
        "{}",
        kept.len()
    );
    assert_eq!(stage.read_log(Stream::Err), "warn\n");
}

/// Cannot read the output of its agent.
struct Broken(CommandLine);

impl Runner for Broken {
    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn invocation(&self, job: &Job) -> Invocation {
        self.0.invocation(job)
    }

    fn read_line(&self, _line: &str, _ended: &mut OutputState) {
        panic!("injected fault")
    }
}

#[test]
fn panic_over_output_fails_attempt() {
    let stage = Stage::new();
    let script = "mkfifo pipe; exec 3<>pipe; echo ready; sleep 60";
    let runner = Broken(shell(script));
    let error = drive(&runner, &stage.job("Do it."), &mut |_| {}).unwrap_err();
    assert_eq!(error.code.name(), "E_INTERNAL");
    assert!(is_soon_alone(&stage.path("pipe")));
}
