//! A model that plays a script, on this machine: real agent programs ask it what to do, do what it
//! says, and ask again. It speaks the four wire formats that they use. A prompt names what is played
//! for it by `PLAY: name`.

mod talk;
mod wire;

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use talk::Talk;
use wire::Format;

/// The next answer of the model.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    /// Has a file written, by the tool that the program offers for that, else by its shell.
    Write(String, String),
    /// Has a command run.
    Shell(String),
    /// Says something, which ends the turn.
    Say(String),
    /// Says something, once, and then answers as the next step says.
    Lie(String),
    /// Says something that was cut because it is too long.
    Cut(String),
    /// Answers with a status so many times, and then as the next step says.
    Fail(u16, usize),
    /// Ends the connection in the middle, once, and then answers as the next step says.
    Break,
    /// Says nothing for longer than any test waits.
    Hang,
}

/// A step of a script, from words.
pub(crate) fn say(text: &str) -> Step {
    Step::Say(text.to_string())
}

/// An answer for a program, in its own terms.
pub(super) enum Answer {
    Text { text: String, is_cut: bool },
    Call { tool: String, input: Value },
}

/// See the module.
pub(crate) struct Model {
    /// Where it is: `http://127.0.0.1:PORT`.
    pub(crate) url: String,
    hangs: Mutex<Receiver<()>>,
}

struct Stage {
    plays: HashMap<String, Vec<Step>>,
    /// How often a step that passes was played.
    played: Mutex<HashMap<(String, usize), usize>>,
    hanging: Sender<()>,
}

impl Model {
    /// Starts a model with a script for each name.
    pub(crate) fn start(plays: &[(&str, Vec<Step>)]) -> Model {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let plays = plays
            .iter()
            .map(|(name, steps)| (name.to_string(), steps.clone()));
        let (hanging, hangs) = mpsc::channel();
        let stage = Arc::new(Stage {
            plays: plays.collect(),
            played: Mutex::default(),
            hanging,
        });
        thread::spawn(move || {
            for stream in listener.incoming() {
                let stage = Arc::clone(&stage);
                // The client may leave at any time.
                thread::spawn(move || serve(&stream.unwrap(), &stage));
            }
        });
        Model {
            url,
            hangs: Mutex::new(hangs),
        }
    }

    /// Returns when somebody waits for an answer that will not come; panics after a long time.
    pub(crate) fn wait_until_it_hangs(&self) {
        let hangs = self.hangs.lock().unwrap();
        let _ = hangs.recv_timeout(Duration::from_secs(120));
    }
}

/// A reply over a connection.
enum Reply {
    Whole(u16, String),
    Events(String),
    Half(String),
}

impl Stage {
    fn reply(&self, line: &str, body: &Value) -> Reply {
        let path = line.split_whitespace().nth(1).unwrap_or_default();
        let path = path.split('?').next().unwrap_or_default();
        if path.ends_with("/count_tokens") {
            return Reply::Whole(200, json!({"input_tokens": 100}).to_string());
        }
        let Some(format) = Format::from_path(path) else {
            let status = if line.starts_with("POST") { 404 } else { 200 };
            let nothing = json!({"object": "list", "data": [], "models": [], "has_more": false});
            return Reply::Whole(status, nothing.to_string());
        };
        let talk = Talk::read(format, body);
        let streams = format.streams(path, body);
        let wrap = |answer: &Answer| match streams {
            true => Reply::Events(format.events(answer)),
            false => Reply::Whole(200, format.whole(answer).to_string()),
        };
        // Calls beside the work, such as for a title, come without tools.
        let Some(steps) = self
            .plays
            .get(&talk.play)
            .filter(|_| !talk.tools.is_empty())
        else {
            return wrap(&Answer::text("ok"));
        };
        self.play(&talk, steps, &wrap)
    }

    /// Plays the step that the conversation has come to. Steps that only pass come before it.
    fn play(&self, talk: &Talk, steps: &[Step], wrap: &dyn Fn(&Answer) -> Reply) -> Reply {
        let mut done = 0;
        let mut is_half = false;
        for (at, step) in steps.iter().enumerate() {
            match step {
                _ if done > talk.steps => break,
                Step::Fail(status, times) if done == talk.steps => {
                    if self.count(talk, at) <= *times {
                        return Reply::Whole(*status, failure(*status));
                    }
                }
                Step::Lie(text) if done == talk.steps => {
                    if self.count(talk, at) == 1 {
                        return wrap(&Answer::text(text));
                    }
                }
                Step::Break if done == talk.steps => is_half |= self.count(talk, at) == 1,
                Step::Hang if done == talk.steps => {
                    // The receiver may be gone.
                    let _ = self.hanging.send(());
                    thread::sleep(Duration::from_secs(600));
                }
                Step::Fail(..) | Step::Lie(_) | Step::Break | Step::Hang => {}
                _ if done == talk.steps => {
                    return match (wrap(&talk.answer(step)), is_half) {
                        (Reply::Events(events), true) => Reply::Half(events),
                        (reply, _) => reply,
                    };
                }
                _ => done += 1,
            }
        }
        wrap(&Answer::text("the script is over"))
    }

    fn count(&self, talk: &Talk, at: usize) -> usize {
        let mut played = self.played.lock().unwrap();
        let times = played.entry((talk.play.clone(), at)).or_default();
        *times += 1;
        *times
    }
}

impl Answer {
    fn text(text: &str) -> Answer {
        Answer::Text {
            text: text.to_string(),
            is_cut: false,
        }
    }
}

fn failure(status: u16) -> String {
    let kind = match status {
        429 => "rate_limit_error",
        529 => "overloaded_error",
        _ => "api_error",
    };
    let message = format!("scripted failure {status}");
    json!({"type": "error", "error": {"type": kind, "message": message, "code": status}})
        .to_string()
}

fn serve(stream: &TcpStream, stage: &Stage) -> Option<()> {
    let mut reader = BufReader::new(stream);
    // One connection may bring many requests.
    loop {
        let (line, body) = read(&mut reader)?;
        let mut stream = stream;
        match stage.reply(&line, &body) {
            Reply::Whole(status, body) => {
                let length = body.len();
                let head = format!(
                    "HTTP/1.1 {status} Scripted\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n"
                );
                stream.write_all((head + &body).as_bytes()).ok()?;
            }
            Reply::Events(events) => {
                let text = format!("{EVENTS}{:x}\r\n{events}\r\n0\r\n\r\n", events.len());
                stream.write_all(text.as_bytes()).ok()?;
            }
            Reply::Half(events) => {
                let half = events.len() / 2;
                let text = format!("{EVENTS}{half:x}\r\n{}\r\n", &events[..half]);
                stream.write_all(text.as_bytes()).ok()?;
                return stream.shutdown(std::net::Shutdown::Both).ok();
            }
        }
    }
}

const EVENTS: &str =
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";

/// Reads a request: its first line and its body.
fn read(reader: &mut impl BufRead) -> Option<(String, Value)> {
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if reader.read_line(&mut head).ok()? == 0 {
            return None;
        }
    }
    let lower = head.to_lowercase();
    let body = match lower.contains("transfer-encoding: chunked") {
        true => chunks(reader)?,
        false => {
            let length = lower.split("content-length:").nth(1);
            let length = length.and_then(|rest| rest.lines().next()?.trim().parse().ok());
            let mut body = vec![0; length.unwrap_or(0)];
            reader.read_exact(&mut body).ok()?;
            body
        }
    };
    let line = head.lines().next()?.to_string();
    Some((line, serde_json::from_slice(&body).unwrap_or_default()))
}

fn chunks(reader: &mut impl BufRead) -> Option<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let length = usize::from_str_radix(line.trim().split(';').next()?, 16).ok()?;
        let mut chunk = vec![0; length + 2];
        reader.read_exact(&mut chunk).ok()?;
        if length == 0 {
            return Some(body);
        }
        body.extend_from_slice(&chunk[..length]);
    }
}
