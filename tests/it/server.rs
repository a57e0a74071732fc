//! A server on this machine that answers as a test says, and remembers what it was asked.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::Value;

/// A behaviour of the server.
#[derive(Clone)]
pub(crate) enum Answer {
    /// Answers with a status, further headers and a body.
    Whole(u16, &'static str, String),
    /// Sends the beginning of an answer, and each next piece when the test says so.
    Pieces(&'static str, Vec<String>),
    /// Says nothing until the other side leaves, and then tells the test.
    Hang,
    /// Promises more than it sends.
    Cut(String),
    /// Closes at once.
    Close,
    /// Sends what is not HTTP.
    Garbage,
    /// Sends without end.
    Endless,
    /// Answers with a status and everything that it was sent, headers too.
    Echo(u16),
    /// Answers with the request's id put in the place of `ID`.
    Worker(String),
}

/// A request to the server.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    /// Method and path, such as `POST /x`.
    pub(crate) line: String,
    /// The headers as they came.
    pub(crate) headers: String,
    /// The body.
    pub(crate) body: Value,
}

/// See the module.
pub(crate) struct Server {
    /// Where it is: `http://127.0.0.1:PORT`.
    pub(crate) url: String,
    asked: Arc<Mutex<Vec<Asked>>>,
    /// Lets the next piece of an answer go.
    pub(crate) go: Sender<()>,
    /// Hears that somebody left a server that hangs.
    pub(crate) left: Receiver<()>,
}

impl Server {
    /// Starts a server; the last answer is given to all further requests too.
    pub(crate) fn start(answers: &[Answer]) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (go, may_go) = mpsc::channel();
        let (leaving, left) = mpsc::channel();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (answers, heard) = (answers.to_vec(), Arc::clone(&asked));
        let may_go = Arc::new(Mutex::new(may_go));
        thread::spawn(move || {
            for (at, stream) in listener.incoming().enumerate() {
                let answer = answers[at.min(answers.len() - 1)].clone();
                let (heard, may_go) = (Arc::clone(&heard), Arc::clone(&may_go));
                let leaving = leaving.clone();
                // The client may leave at any time.
                thread::spawn(move || serve(stream.unwrap(), &answer, &heard, &may_go, &leaving));
            }
        });
        Server {
            url,
            asked,
            go,
            left,
        }
    }

    /// Returns everything it was asked.
    pub(crate) fn read_requests(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }
}

/// Returns an address that no server listens at.
pub(crate) fn nobody() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
}

fn serve(
    mut stream: TcpStream,
    answer: &Answer,
    heard: &Mutex<Vec<Asked>>,
    may_go: &Mutex<Receiver<()>>,
    leaving: &Sender<()>,
) -> Option<()> {
    let asked = read(&stream)?;
    heard.lock().unwrap().push(asked.clone());
    let mut send = |text: &str| stream.write_all(text.as_bytes()).ok();
    match answer {
        Answer::Whole(status, headers, body) => send(&whole(*status, headers, body)),
        Answer::Echo(status) => {
            let text = format!("{} {}", asked.headers, asked.body);
            let body = serde_json::json!({"error": {"message": text}}).to_string();
            send(&whole(*status, "", &body))
        }
        Answer::Worker(body) => {
            let id = asked.body["request_id"].as_str().unwrap_or_default();
            send(&whole(200, "", &body.replace("ID", id)))
        }
        Answer::Pieces(headers, pieces) => {
            send(&format!(
                "HTTP/1.1 200 OK\r\n{headers}Transfer-Encoding: chunked\r\n\r\n"
            ))?;
            for (at, piece) in pieces.iter().enumerate() {
                if at > 0 {
                    may_go.lock().unwrap().recv().ok()?;
                }
                send(&format!("{:x}\r\n{piece}\r\n", piece.len()))?;
            }
            send("0\r\n\r\n")
        }
        Answer::Hang => {
            let _ = stream.read(&mut [0; 1]);
            leaving.send(()).ok()
        }
        Answer::Cut(body) => {
            let length = body.len() + 100;
            send(&format!(
                "HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n{body}"
            ))
        }
        Answer::Close => None,
        Answer::Garbage => send("this is not HTTP\r\n\r\n"),
        Answer::Endless => {
            send("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n")?;
            let piece = "x".repeat(1 << 16);
            while send(&piece).is_some() {}
            None
        }
    }
}

fn whole(status: u16, headers: &str, body: &str) -> String {
    let length = body.len();
    let kind = match headers.to_lowercase().contains("content-type") {
        true => "",
        false => "Content-Type: application/json\r\n",
    };
    format!(
        "HTTP/1.1 {status} X\r\n{kind}{headers}Content-Length: {length}\r\nConnection: close\r\n\r\n{body}"
    )
}

fn read(stream: &TcpStream) -> Option<Asked> {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if reader.read_line(&mut head).ok()? == 0 {
            return None;
        }
    }
    let (line, headers) = head.split_once("\r\n")?;
    let headers = headers.to_lowercase();
    let length = headers.split("content-length: ").nth(1);
    let length = length.and_then(|rest| rest.lines().next()?.trim().parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    reader.read_exact(&mut body).ok()?;
    Some(Asked {
        line: line.trim_end_matches(" HTTP/1.1").to_string(),
        headers,
        body: serde_json::from_slice(&body).unwrap_or_default(),
    })
}
