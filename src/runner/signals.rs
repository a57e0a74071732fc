//! Handles signals to cleo while commands run. Handlers are installed with the first command, so a cleo
//! without commands has none but that of the file size limit.

use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::flag;

use crate::error::{Code, Error, Result};

const SIGNALS: [(i32, Code); 3] = [
    (SIGINT, Code::Interrupted),
    (SIGTERM, Code::Terminated),
    (SIGHUP, Code::Terminated),
];

const POLL_INTERVAL: Duration = Duration::from_millis(25);

/// How often it is asked whether the work of a thread was cancelled.
const WATCH_INTERVAL: Duration = Duration::from_millis(250);

thread_local! {
    /// Tells whether the work of this thread was cancelled.
    static WATCH: RefCell<Option<Watch>> = const { RefCell::new(None) };
    /// True while this thread waits for its commands also where cleo was asked to end.
    static SHIELDED: Cell<bool> = const { Cell::new(false) };
}

/// True while no command runs: signals then do what they always do.
static IDLE: AtomicBool = AtomicBool::new(true);
/// Which signal came, counted from one; it stays, because one request to end is enough.
static CAUGHT: AtomicUsize = AtomicUsize::new(0);
static SEEN: AtomicBool = AtomicBool::new(false);
/// Not 0 when Ctrl-C came again after that.
static AGAIN: AtomicUsize = AtomicUsize::new(0);
/// How many commands run: signals are obeyed again when the last of them has ended.
static RUNNING: Mutex<usize> = Mutex::new(0);
/// True once a write exceeded the file size limit; the write itself failed.
static TOO_LONG: AtomicBool = AtomicBool::new(false);
static HANDLED: OnceLock<()> = OnceLock::new();

/// As long as it lives, SIGINT, SIGTERM and SIGHUP are noted instead of obeyed.
pub(crate) struct Guard(());

impl Guard {
    /// Begins to note signals. It comes before the command starts, so that none is lost.
    pub(crate) fn begin() -> Result<Guard> {
        if HANDLED.get().is_none() {
            handle().map_err(signal_error)?;
            let _ = HANDLED.set(());
        }
        change_running(|running| running + 1);
        Ok(Guard(()))
    }

    /// Lets signals do again what they always do, and says which came before: in this order, so
    /// that none comes between.
    pub(crate) fn end(self) -> Option<Code> {
        drop(self);
        caught_code()
    }
}

/// Returns true if cleo was asked to end again: then it waits for nothing any more.
pub(super) fn is_force_requested() -> bool {
    SEEN.load(Ordering::SeqCst) && AGAIN.load(Ordering::SeqCst) > 0
}

/// Runs `work` until `is_over` returns true, which is asked four times a second; then waiting for a command or
/// server ends as with Ctrl-C.
pub(crate) fn run_until<T>(is_over: impl FnMut() -> bool + 'static, work: impl FnOnce() -> T) -> T {
    let watch = Watch {
        is_over: Box::new(is_over),
        asked: Instant::now(),
        has_ended: false,
    };
    let (outer, was_shielded) = (WATCH.replace(Some(watch)), SHIELDED.replace(false));
    let done = work();
    WATCH.set(outer);
    SHIELDED.set(was_shielded);
    done
}

/// Runs `work` whose commands end by themselves: they are waited for where cleo was asked to end, and ended where it is
/// asked by Ctrl-C again.
pub(crate) fn run_shielded<T>(work: impl FnOnce() -> T) -> T {
    let outer = SHIELDED.replace(true);
    let done = work();
    SHIELDED.set(outer);
    done
}

struct Watch {
    is_over: Box<dyn FnMut() -> bool>,
    asked: Instant,
    has_ended: bool,
}

/// Returns the signal by which cleo was asked to end.
pub(crate) fn pending_signal() -> Option<Code> {
    let which = CAUGHT.load(Ordering::SeqCst).checked_sub(1)?;
    if !SEEN.swap(true, Ordering::SeqCst) {
        AGAIN.store(0, Ordering::SeqCst);
    }
    SIGNALS.get(which).map(|(_, code)| *code)
}

/// Returns why the commands of this thread are to end, while signals are noted.
pub(crate) fn caught_code() -> Option<Code> {
    if SHIELDED.get() {
        return pending_signal().filter(|_| is_force_requested());
    }
    let is_cancelled = WATCH.with_borrow_mut(|watch| {
        let Some(watch) = watch else { return false };
        if !watch.has_ended && watch.asked.elapsed() >= WATCH_INTERVAL {
            watch.has_ended = (watch.is_over)();
            watch.asked = Instant::now();
        }
        watch.has_ended
    });
    match is_cancelled {
        true => Some(Code::Interrupted),
        false => pending_signal(),
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        change_running(|running| running.saturating_sub(1));
    }
}

fn change_running(change: impl Fn(usize) -> usize) {
    let mut running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
    *running = change(*running);
    IDLE.store(*running == 0, Ordering::SeqCst);
}

/// Makes the error of a cleo that was asked to end. `meanwhile` names the interrupted work, such as
/// `cleo waited for an answer`.
pub(crate) fn interruption_error(code: Code, meanwhile: &str) -> Error {
    let what = match code {
        Code::Terminated => "terminated",
        _ => "interrupted",
    };
    Error::new(
        code,
        format!("{what} while {meanwhile}; it was ended, its result is not kept"),
    )
}

/// Sleeps, and no longer than until cleo is asked to end, which is an error then.
pub(crate) fn sleep(time: Duration, meanwhile: &str) -> Result<()> {
    let guard = Guard::begin()?;
    let begun = Instant::now();
    while caught_code().is_none() && begun.elapsed() < time {
        thread::sleep(POLL_INTERVAL.min(time.saturating_sub(begun.elapsed())));
    }
    match guard.end() {
        Some(code) => Err(interruption_error(code, meanwhile)),
        None => Ok(()),
    }
}

/// Makes SIGINT, SIGTERM and SIGHUP end cleo at once with their exit codes, for commands that only read until
/// they are stopped.
pub(crate) fn end_at_once() -> Result<()> {
    let always = Arc::new(AtomicBool::new(true));
    for (_, (signal, code)) in list_signals() {
        let exit = i32::from(code.exit_code());
        flag::register_conditional_shutdown(signal, exit, Arc::clone(&always))
            .map_err(signal_error)?;
    }
    Ok(())
}

/// Makes writes beyond the file size limit (`ulimit -f`) fail as on a full disk, where the system would kill
/// cleo silently. Commands that cleo starts keep the default.
pub(crate) fn outlive_size_limit() {
    // Where it cannot be had, such a write ends cleo; nothing else depends on it.
    let _ = flag::register(SIGXFSZ, &TOO_LONG);
}

/// Leaves signals to the caller: commands note none and end when [`end`] is called. For a server, which shuts
/// down gracefully.
pub(crate) fn ignore_interrupts() {
    let _ = HANDLED.set(());
}

/// Ends all running commands as if the signal of a code had come.
pub(crate) fn end(code: Code) {
    let which = SIGNALS.iter().position(|(_, there)| *there == code);
    CAUGHT.store(which.map_or(1, |which| which + 1), Ordering::SeqCst);
}

fn signal_error(cause: std::io::Error) -> Error {
    Error::new(Code::Internal, "signals cannot be handled").because(cause)
}

/// The handled signals with their numbers. SIGHUP ignored by `nohup` stays ignored, so that a command
/// outlives its terminal.
fn list_signals() -> impl Iterator<Item = (usize, (i32, Code))> {
    let signals = SIGNALS.into_iter().enumerate();
    signals.filter(|(_, (signal, _))| *signal != SIGHUP || !is_ignored(SIGHUP))
}

pub(crate) fn heeds_hangup() -> bool {
    !is_ignored(SIGHUP)
}

/// Returns whether cleo was started with a signal ignored; known on Linux only.
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}

fn handle() -> std::io::Result<()> {
    for (which, (signal, _)) in list_signals() {
        flag::register_conditional_default(signal, &IDLE)?;
        flag::register_usize(signal, &CAUGHT, which + 1)?;
    }
    flag::register_usize(SIGINT, &AGAIN, 1)?;
    Ok(())
}
