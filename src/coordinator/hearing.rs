//! What the threads of a run tell, as events to keep and facts for the machine.

use std::time::{Duration, Instant};

use super::crew::Heard;
use super::engine::Engine;
use super::machine::{self, Fact, Stop};
use crate::error::{Error, Result};
use crate::run::Outcome;
use crate::run::told::{Told, kind};
use crate::runner::agent::{Ended, Sign};

/// Shortest time between two events that tell what an agent does.
const DOING_PAUSE: Duration = Duration::from_secs(1);
/// Most characters of an agent's message that an event keeps.
const SAID_MAX: usize = 2_000;
/// Most lines of complaints that an event keeps.
const COMPLAINTS_MAX: usize = 5;

impl Engine<'_> {
    pub(super) fn hear(&mut self, step: usize, attempt: u32, heard: Heard) {
        // One that was given up may still say something.
        let is_current = self.slots[step].attempt == attempt;
        match heard {
            Heard::Sign(sign) if is_current => self.sign(step, sign),
            Heard::Ended(ended) if is_current => self.ended(step, *ended),
            Heard::Checked(ran) if is_current => self.checked(step, ran),
            _ => {}
        }
    }

    fn sign(&mut self, step: usize, sign: Sign) {
        match sign {
            Sign::Started(group, born) => {
                let told = Told {
                    group: Some(group),
                    born,
                    ..self.of(step)
                };
                self.tell(kind::AGENT_STARTED, told);
            }
            Sign::Conversation(name) => {
                let told = Told {
                    conversation: Some(bounded(name)),
                    ..self.of(step)
                };
                self.tell(kind::AGENT_CONVERSATION, told);
            }
            Sign::Doing(what) => self.doing(step, what),
            Sign::Used(usage) => self.board.using(self.tasks[step], usage),
        }
    }

    fn doing(&mut self, step: usize, what: String) {
        let told = self.slots[step].told;
        if told.is_some_and(|told| told.elapsed() < DOING_PAUSE) {
            return self.board.doing(self.tasks[step], bounded(what));
        }
        self.slots[step].told = Some(Instant::now());
        let told = Told {
            doing: Some(bounded(what)),
            ..self.of(step)
        };
        self.tell(kind::AGENT_DOING, told);
    }

    fn ended(&mut self, step: usize, ended: Result<Ended>) {
        let mut ended = ended.unwrap_or_else(not_driven);
        if ended.outcome == Some(Outcome::Cancelled) && self.machine.stop() == Some(Stop::TimeLimit)
        {
            // It was ended for that, and nobody has given it up.
            ended.outcome = Some(Outcome::Timeout);
            ended.reason = Some(self.machine.why_stopped());
        }
        let told = Told {
            outcome: ended.outcome,
            reason: ended.reason.clone().map(bounded),
            exit_code: ended.exit_code,
            duration_ms: Some(ended.duration_ms),
            usage: ended.usage,
            cost: ended.cost,
            turns: ended.turns,
            message: ended.message.clone().map(bounded),
            conversation: ended.conversation.clone().map(bounded),
            resumes: ended.not_resumed.then_some(false),
            denied: ended.denied.iter().cloned().map(bounded).collect(),
            complaints: last(&ended.complaints),
            ..self.of(step)
        };
        self.tell(kind::AGENT_ENDED, told);
        self.facts.push(Fact::Ended(
            step,
            machine::Ended {
                outcome: ended.outcome,
                cost: ended.cost.unwrap_or(0.0),
                retry_after: ended.retry_after_ms.map(Duration::from_millis),
            },
        ));
        self.slots[step].stop = None;
        let words = self.last_words(step, ended.outcome, ended.message.as_deref());
        self.slots[step].last_words = words;
        self.slots[step].said = Some(ended);
    }

    /// Returns the last message of an agent that came to its end, without the blanks that its program may put
    /// around it. One whose program tells all messages and told none has said nothing.
    pub(super) fn last_words(
        &self,
        step: usize,
        outcome: Option<Outcome>,
        message: Option<&str>,
    ) -> Option<String> {
        let told = message.map(|message| bounded(message.trim().to_string()));
        let is_heard = self
            .worker(step)
            .is_some_and(|worker| worker.runner.tells_messages());
        told.or(is_heard.then(String::new))
            .filter(|_| outcome == Some(Outcome::Ok))
    }

    fn checked(&mut self, step: usize, ran: Result<Vec<String>>) {
        let told = match ran {
            Ok(ran) => Told {
                complaints: ran.into_iter().map(bounded).collect(),
                ..self.of(step)
            },
            // Completing says what is wrong.
            Err(error) => Told {
                reason: Some(bounded(error.message)),
                ..self.of(step)
            },
        };
        self.slots[step].stop = None;
        self.tell(kind::TASK_CHECKED, told);
        self.facts.push(Fact::Checked(step));
    }
}

fn not_driven(error: Error) -> Ended {
    Ended {
        outcome: Some(Outcome::AgentError),
        reason: Some(error.message),
        ..Ended::default()
    }
}

fn bounded(text: String) -> String {
    match text.char_indices().nth(SAID_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

fn last(lines: &[String]) -> Vec<String> {
    let first = lines.len().saturating_sub(COMPLAINTS_MAX);
    lines[first..].iter().cloned().map(bounded).collect()
}
