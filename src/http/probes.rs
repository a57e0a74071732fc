//! Answers for probes and for Prometheus: whether the server is there, whether it can answer, and its figures.

use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use axum::http::StatusCode;
use serde::Serialize;

use super::answer::Answer;
use super::call::Call;
use super::route::Route;
use crate::error::Result;
use crate::ops::workspace;

/// Form of the figures, which Prometheus reads.
const FIGURES: &str = "text/plain; version=0.0.4; charset=utf-8";

pub(super) fn routes() -> Vec<Route> {
    let routes = [
        Route::get("/health", |_| describe("Supervisor is running"))
            .about("Returns the health of the server")
            .answers::<Health>(200)
            .quick()
            .open(),
        Route::get("/ready", is_ready)
            .about("Reads from the database: whether the server can answer")
            .answers::<Health>(200)
            .open(),
        Route::get("/metrics", list_figures)
            .about("Lists figures of the server and its tasks in the form of Prometheus")
            .sends(200, FIGURES),
    ];
    // Probes may add parameters against caches.
    routes.map(|route| route.tag("server").page()).into()
}

/// The form of the specification.
#[derive(Serialize, schemars::JsonSchema)]
struct Health {
    status: &'static str,
    message: &'static str,
}

fn describe(message: &'static str) -> Result<Answer> {
    let status = "ok";
    Answer::ok(&Health { status, message })
}

fn is_ready(call: &Call) -> Result<Answer> {
    let mut context = call.server.lend_context()?;
    context.read(|transaction| transaction.first_unused_id())?;
    describe("The database answers")
}

/// How many requests were answered, by the first digit of the status, and in how much time.
#[derive(Default)]
pub(super) struct Answered {
    by_class: [AtomicU64; 6],
    micros: AtomicU64,
}

impl Answered {
    pub(super) fn count(&self, status: StatusCode, time: Duration) {
        let class = usize::from(status.as_u16() / 100).min(5);
        self.by_class[class].fetch_add(1, Ordering::Relaxed);
        let micros = u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        self.micros.fetch_add(micros, Ordering::Relaxed);
    }
}

fn list_figures(call: &Call) -> Result<Answer> {
    let server = &call.server;
    let mut context = call.context("metrics")?;
    let counts = workspace::counts(&mut context, call.visible_user())?;
    let answered = &server.answered;
    let load = |number: &AtomicU64| number.load(Ordering::Relaxed);
    let seconds = load(&answered.micros) as f64 / 1e6;
    let mut text = format!(
        "# TYPE cleo_build_info gauge\ncleo_build_info{{version=\"{}\"}} 1\n\
         # TYPE cleo_request_seconds_total counter\ncleo_request_seconds_total {seconds}\n\
         # TYPE cleo_requests_total counter\n",
        env!("CARGO_PKG_VERSION")
    );
    for class in 1..6 {
        let number = load(&answered.by_class[class]);
        let _ = writeln!(text, "cleo_requests_total{{class=\"{class}xx\"}} {number}");
    }
    for (name, number) in [
        ("requests_in_progress", server.calls.in_use() as u64),
        ("answers_in_progress", server.answers.in_use() as u64),
        ("listeners", server.listeners.in_use() as u64),
        ("open_tasks", counts.open_tasks),
        ("ready_tasks", counts.ready_tasks),
        ("live_runs", counts.live_runs),
        ("agents_at_work", counts.at_work),
        ("agents", counts.agents),
        ("conversations", counts.conversations),
    ] {
        let _ = writeln!(text, "# TYPE cleo_{name} gauge\ncleo_{name} {number}");
    }
    Ok(Answer::bytes(FIGURES, text))
}
