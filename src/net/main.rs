//! `cleo-net`: one HTTP exchange, by a program of its own that lies beside cleo, so that cleo itself
//! carries no network. Reads a request, one line of JSON, from standard input and writes the answer
//! to standard output as lines of JSON, as it comes (see `cleo::exchange`). Ends at once when
//! its standard input is closed: then nobody waits for it any more. It follows no redirects.

mod request;

use std::io::{self, BufRead, Read, Write};
use std::process::ExitCode;
use std::thread;

use cleo::exchange::{Call, Fault, FaultKind, Line};

/// Largest request, in bytes.
const CALL_MAX: u64 = 64 << 20;

fn main() -> ExitCode {
    let mut out = io::stdout().lock();
    let done = read().and_then(|call| {
        thread::spawn(leave_when_left);
        request::perform(&call, &mut |line| write(&mut out, line))
    });
    let last = match done {
        Ok(()) => Line::End,
        Err(fault) => Line::Fault(fault),
    };
    match write(&mut out, &last) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

fn read() -> Result<Call, Fault> {
    let mut line = String::new();
    let read = io::stdin().lock().take(CALL_MAX).read_line(&mut line);
    let call = read.ok().and_then(|_| serde_json::from_str(&line).ok());
    // The line is not repeated: it may hold a key.
    call.ok_or_else(|| internal("the request on standard input is not one"))
}

fn write(out: &mut dyn Write, line: &Line) -> Result<(), Fault> {
    let text = serde_json::to_string(line).map_err(|_| internal("the answer is no JSON"))?;
    writeln!(out, "{text}")
        .and_then(|()| out.flush())
        .map_err(|_| internal("nobody reads the answer"))
}

fn internal(message: &str) -> Fault {
    Fault::new(FaultKind::Internal, message)
}

/// Waits until standard input is closed, and ends the program.
#[expect(
    clippy::exit,
    reason = "the exchange may hang, and there is nothing to clean up"
)]
fn leave_when_left() {
    let mut rest = io::stdin().lock();
    while let Ok(1..) = rest.read(&mut [0; 64]) {}
    std::process::exit(1);
}
