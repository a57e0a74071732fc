//! Exchanges with servers. The network itself is in `cleo-net`, a program beside cleo, so that no
//! other command carries it: one process for each exchange. The request, with any key in it, goes
//! through its standard input only, and it ends when that is closed, so it never outlives cleo.

pub mod public;
pub mod wire;

use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender};
use std::thread;
use std::time::{Duration, Instant};

use crate::error::{Code, Error, Result};
use crate::runner::child;
use crate::runner::signals::{self, Guard};
use wire::{Call, Fault, FaultKind, Head, Line};

/// Name of the program that talks to servers.
pub const PROGRAM: &str = "cleo-net";
/// What it may know of the environment: proxies and certificates, and no keys.
const VARIABLES: [&str; 10] = [
    "http_proxy",
    "HTTP_PROXY",
    "https_proxy",
    "HTTPS_PROXY",
    "all_proxy",
    "ALL_PROXY",
    "no_proxy",
    "NO_PROXY",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
];
/// How long it may take to say by itself that time is up.
const GRACE: Duration = Duration::from_secs(2);
/// How often to look whether cleo is asked to end.
const LOOK: Duration = Duration::from_millis(25);
/// How many lines may wait to be taken.
const WAITING: usize = 64;

/// Why an exchange has no answer.
#[derive(Debug)]
pub enum Failure {
    /// The server, or the way there.
    Fault(Fault),
    /// cleo itself: it is asked to end, or `cleo-net` is missing.
    Own(Error),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        Failure::Own(error)
    }
}

/// Performs one exchange. `heard` gets the body piece by piece, as it comes.
pub fn perform(
    program: &Path,
    call: &Call,
    heard: &mut dyn FnMut(&Head, &str),
) -> std::result::Result<Head, Failure> {
    let guard = Guard::begin()?;
    let mut child = start(program)?;
    let done = converse(&mut child, call, heard, &guard);
    // It ends by itself when its answer is whole; when it is not, nobody waits for it.
    let _ = child.kill();
    let _ = child.wait();
    if let Some(code) = guard.end() {
        return Err(Failure::Own(signals::interrupted(
            code,
            "cleo waited for an answer",
        )));
    }
    done
}

/// Says what is wrong with the program, without starting it.
pub fn check(program: &Path) -> Result<()> {
    match program.metadata() {
        Ok(there) if there.is_file() => Ok(()),
        Ok(_) => Err(missing(program, "it is no file")),
        Err(cause) => Err(missing(program, &cause.to_string())),
    }
}

fn missing(program: &Path, cause: &str) -> Error {
    let place = program.display();
    let message = format!("the network needs the program {PROGRAM} at {place}: {cause}");
    Error::new(Code::ProgramMissing, message).fix("cargo install --path .")
}

fn start(program: &Path) -> Result<Child> {
    Command::new(program)
        .env_clear()
        .envs(child::variables(&VARIABLES))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|cause| missing(program, &cause.to_string()))
}

fn converse(
    child: &mut Child,
    call: &Call,
    heard: &mut dyn FnMut(&Head, &str),
    guard: &Guard,
) -> std::result::Result<Head, Failure> {
    let limit = Duration::from_millis(call.timeout_ms).saturating_add(GRACE);
    let begun = Instant::now();
    // Kept open until the end: that it closes tells the program to end.
    let mut input = child.stdin.take();
    if let (Some(input), Ok(line)) = (input.as_mut(), serde_json::to_string(call)) {
        // When it has ended already, its last line says why.
        let _ = input.write_all(line.as_bytes());
        let _ = input.write_all(b"\n");
        let _ = input.flush();
    }
    let lines = child.stdout.take().map(follow);
    let mut head = Head::default();
    loop {
        match next(lines.as_ref(), guard, begun, limit)? {
            Line::Head(begin) => head = begin,
            Line::Chunk(text) => heard(&head, &text),
            Line::End => return Ok(head),
            Line::Fault(fault) => return Err(Failure::Fault(fault)),
        }
    }
}

/// Waits for the next line, the limit or a signal, whichever comes first.
fn next(
    lines: Option<&Receiver<Line>>,
    guard: &Guard,
    begun: Instant,
    limit: Duration,
) -> std::result::Result<Line, Failure> {
    let fault = |kind, message| Failure::Fault(Fault::new(kind, message));
    loop {
        let next = lines.map(|lines| lines.recv_timeout(LOOK));
        match next {
            Some(Ok(line)) => return Ok(line),
            Some(Err(RecvTimeoutError::Timeout)) => {}
            _ => return Err(fault(FaultKind::Internal, format!("{PROGRAM} broke off"))),
        }
        if guard.caught().is_some() {
            return Err(fault(FaultKind::Internal, "interrupted".to_string()));
        }
        if begun.elapsed() >= limit {
            return Err(fault(FaultKind::Timeout, "time is up".to_string()));
        }
    }
}

fn follow(pipe: impl Read + Send + 'static) -> Receiver<Line> {
    let (sender, receiver) = mpsc::sync_channel(WAITING);
    thread::spawn(move || read(BufReader::new(pipe), &sender));
    receiver
}

/// Reads lines until there are no more, or nobody takes them.
fn read(pipe: impl BufRead, sender: &SyncSender<Line>) {
    for line in pipe.lines() {
        let Ok(line) = line else { return };
        let line = serde_json::from_str(&line).unwrap_or_else(|_| {
            let message = format!("{PROGRAM} said something that is no line of an answer");
            Line::Fault(Fault::new(FaultKind::Internal, message))
        });
        if sender.send(line).is_err() {
            return;
        }
    }
}
