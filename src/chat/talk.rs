//! From one message to one reply: a small machine that asks for calls of tools and is told what they
//! returned. It does nothing itself, so that who drives it decides where the tools work and when.

mod asked;
mod over;
mod renewed;
#[cfg(test)]
mod tests;
mod unheard;

use serde_json::{Value, json};

use self::asked::Answer;
use self::over::{is_own, late, left};
use super::answer::{Choice, Short, choice, only_component, short, titled};
use super::message::Message;
use super::pending::{Ask, Chat, Pending, PendingKind, Settled};
use super::request::Request;
use super::value::brief;
use super::{Call, ChatAgent, Saying, Step, Tool, Wait};
use super::{args, clarifier, design, editor, fault, router, text};

/// Longest request with the answers that complete it, in bytes.
const WHOLE_MAX: usize = 1 << 20;

/// A message on its way to its reply.
#[derive(Clone, Debug)]
pub(crate) struct Talk {
    /// Why this agent replies.
    pub(crate) reason: &'static str,
    /// The client that the conversation is about now.
    pub(crate) client: Option<String>,
    /// What becomes of what waited, unless an answer to it is worked on.
    settled: Option<Settled>,
    doing: Doing,
}

#[derive(Clone, Debug)]
enum Doing {
    /// There is nothing to do but to reply.
    Reply(Saying),
    /// What waited was confirmed.
    Confirmed(Pending),
    /// A component was chosen for what waited.
    Chosen(Pending, String),
    /// What waited was confirmed, but is no longer as it was shown; the text says how it is.
    Renewed(Pending, String),
    /// It may be the title of a component that can be chosen; else it is another request.
    Title(Pending, String, Box<Doing>),
    /// An agent works on a request; the text goes before its reply.
    Work(ChatAgent, Box<Request>, String),
}

impl Talk {
    /// Begins with a message and what the conversation remembers at a moment (RFC 3339 in UTC).
    /// `advice` is the agent that a model chose, where one was asked.
    pub(crate) fn begin(chat: &Chat, message: &str, now: &str, advice: Option<ChatAgent>) -> Talk {
        let read = Message::read(message);
        let is_sure = read.doubt(chat.client.as_deref()).is_none();
        let client = read.client.filter(|_| is_sure);
        let mut talk = Talk {
            reason: "what waited is answered",
            client: client.or_else(|| chat.client.clone()),
            settled: None,
            doing: Doing::Reply(Saying::new(ChatAgent::Clarifier, "")),
        };
        let (waits, expired) = match &chat.pending {
            Some(pending) if now < pending.expires.as_str() => (Some(pending), false),
            pending => (None, pending.is_some()),
        };
        talk.settled = expired.then_some(Settled::Expired);
        talk.doing = match (waits, short(message)) {
            (Some(pending), short) => talk.answered(pending, short, message, advice),
            (None, short) => {
                let ask = chat.ask.as_ref().filter(|ask| now < ask.expires.as_str());
                let late = late(chat, ask.is_none());
                match (ask, short) {
                    (Some(_), Some(Short::No)) => Doing::Reply(dropped()),
                    (None, Some(_)) => Doing::Reply(nothing_waits(late)),
                    (Some(ask), short) if short.is_some() || is_question(message) => {
                        talk.asking(ask, &ask.message, advice, String::new())
                    }
                    (Some(ask), _) => talk.replied(chat, ask, message, advice),
                    (None, _) if late.is_some() && !is_own(message) => {
                        Doing::Reply(nothing_waits(late))
                    }
                    (None, _) => talk.work(message, advice, late.unwrap_or_default()),
                }
            }
        };
        if chat.client.is_some() && talk.moves_nothing() {
            talk.client.clone_from(&chat.client);
        }
        talk
    }

    /// Says whether the message is not understood, so that the conversation stays about its client.
    fn moves_nothing(&self) -> bool {
        match &self.doing {
            Doing::Reply(saying) => matches!(saying.wait, Wait::Kept),
            Doing::Work(ChatAgent::Clarifier, request, _) => clarifier::is_unclear(request),
            _ => false,
        }
    }

    /// Takes a message as the answer to a question for something that a request lacks, or puts
    /// another request in its place.
    fn replied(
        &mut self,
        chat: &Chat,
        ask: &Ask,
        message: &str,
        advice: Option<ChatAgent>,
    ) -> Doing {
        match asked::read(ask, message, chat.client.as_deref()) {
            Answer::Given(given) => {
                // A client in a value is not the one that it is about.
                self.client.clone_from(&chat.client);
                let ask = Ask {
                    given,
                    ..ask.clone()
                };
                self.asking(&ask, &ask.message, advice, String::new())
            }
            Answer::Whole(whole) => self.completing(ask, &whole, message, advice),
            Answer::Own(request) => self.work(&request, advice, left(ask)),
            Answer::Again(why) => {
                self.client.clone_from(&chat.client);
                self.asking(ask, &ask.message, advice, why)
            }
        }
    }

    /// Answers what waits, or puts another request in its place.
    fn answered(
        &mut self,
        pending: &Pending,
        short: Option<Short>,
        message: &str,
        advice: Option<ChatAgent>,
    ) -> Doing {
        let agent = pending.agent;
        if short == Some(Short::No) {
            self.settled = Some(Settled::Cancelled);
            let text = format!("Cancelled: {}. Nothing was changed.", waiting(pending));
            return Doing::Reply(Saying::new(agent, text));
        }
        let invalid = "Invalid selection. Please choose a valid number from the list.";
        let invalid = || Doing::Reply(Saying::new(agent, invalid).waiting(Wait::Kept));
        match (pending.kind, short) {
            (PendingKind::Confirm, Some(_)) => return Doing::Confirmed(pending.clone()),
            // Of one there is nothing to choose: a yes means it.
            (PendingKind::Select, Some(Short::Yes)) if pending.candidates.len() == 1 => {
                return Doing::Chosen(pending.clone(), pending.candidates[0].clone());
            }
            (PendingKind::Select, Some(_)) => return invalid(),
            (PendingKind::Confirm, None) => {
                return match (&pending.next, only_component(message)) {
                    (Some(next), Some(id)) => {
                        let operation = next.clone();
                        Doing::Chosen(Pending::new(PendingKind::Select, agent, operation), id)
                    }
                    _ => self.replaced(pending, message, advice),
                };
            }
            (PendingKind::Select, None) => {}
        }
        match choice(message, &pending.candidates) {
            Choice::Component(id) => Doing::Chosen(pending.clone(), id),
            Choice::Invalid => invalid(),
            Choice::Other => {
                let other = self.replaced(pending, message, advice);
                Doing::Title(pending.clone(), message.to_string(), Box::new(other))
            }
        }
    }

    /// Puts another request in the place of what waits. What is none, such as "yess", does not.
    fn replaced(&mut self, pending: &Pending, message: &str, advice: Option<ChatAgent>) -> Doing {
        let kept =
            |text: String| Doing::Reply(Saying::new(pending.agent, text).waiting(Wait::Kept));
        if clarifier::asks_for_help(message) {
            return kept(format!("{}\n{}", clarifier::HELP, still(pending)));
        }
        if is_question(message) || self.is_unclear(message) {
            let said = brief(message.trim());
            let still = still(pending);
            return kept(format!("I did not understand \"{said}\". {still}"));
        }
        let note = format!(
            "I dropped what was waiting: {}. Nothing was changed.\n",
            waiting(pending)
        );
        self.settled = Some(Settled::Dropped);
        self.work(message, advice, note)
    }

    /// Says whether a message is a single word that asks for nothing, or none.
    fn is_unclear(&self, message: &str) -> bool {
        let request = Request::read(message, self.client.as_deref());
        let is_nothing = request.words.is_empty() && !request.names_client;
        (is_nothing || request.words.len() == 1)
            && request.fault.is_none()
            && router::chosen(&request, None).reason == router::NO_RULE
    }

    /// Works on a request that an answer completes. What answers nothing, but says what to do, is
    /// another request.
    fn completing(
        &mut self,
        ask: &Ask,
        whole: &str,
        answer: &str,
        advice: Option<ChatAgent>,
    ) -> Doing {
        let client = self.client.clone();
        let doing = self.asking(ask, whole, advice, String::new());
        match asks_again(&doing) && Request::read(answer, None).is_order() {
            true => {
                self.client = client;
                self.work(answer, advice, left(ask))
            }
            false => doing,
        }
    }

    /// Works on a request for which values are known.
    fn asking(&mut self, ask: &Ask, whole: &str, advice: Option<ChatAgent>, note: String) -> Doing {
        let request = Request::read(whole, self.client.as_deref());
        let given = ask.given.clone();
        let is_restated = ask
            .field
            .as_ref()
            .is_some_and(|(agent, _)| *agent == ChatAgent::Editor);
        let request = Request {
            given,
            is_restated,
            ..request
        };
        self.work_on(request, advice, note)
    }

    fn work(&mut self, message: &str, advice: Option<ChatAgent>, note: String) -> Doing {
        let request = Request::read(message, self.client.as_deref());
        self.work_on(request, advice, note)
    }

    fn work_on(&mut self, request: Request, advice: Option<ChatAgent>, note: String) -> Doing {
        let routed = router::chosen(&request, advice);
        self.reason = routed.reason;
        self.client.clone_from(&request.client);
        if let Some(fault) = &request.fault {
            return Doing::Reply(Saying::new(routed.agent, format!("{note}{fault}")));
        }
        Doing::Work(routed.agent, Box::new(request), note)
    }

    /// Says whether the message is the yes to this very call.
    pub(crate) fn confirms(&self, call: &Call) -> bool {
        matches!(&self.doing, Doing::Confirmed(pending) if pending.call() == *call)
    }

    /// Says what happens next, from what the tools have returned so far.
    pub(crate) fn next(&self, results: &[Value]) -> Step {
        self.doing.next(results).settling(self.settled)
    }
}

impl Doing {
    fn next(&self, results: &[Value]) -> Step {
        match self {
            Doing::Reply(saying) => Step::Say(saying.clone()),
            Doing::Confirmed(pending) => {
                confirmed(pending, results).settling(Some(Settled::Confirmed))
            }
            Doing::Renewed(pending, note) => renewed::next(pending, results, note),
            Doing::Chosen(pending, id) => chosen(pending, id, results),
            Doing::Title(pending, message, other) => match results {
                [] => Step::Call(all_of(text(&pending.args, "clientId"))),
                [found, rest @ ..] => match titled(message, found, &pending.candidates) {
                    Some(id) => chosen(pending, &id, rest),
                    None => other.next(rest),
                },
            },
            Doing::Work(agent, request, note) => {
                let step = match agent {
                    ChatAgent::Design => design::next(request, results),
                    ChatAgent::Editor => editor::next(request, results),
                    ChatAgent::Clarifier => clarifier::next(request, results),
                };
                match step {
                    Step::Say(saying) => {
                        let text = left_out(*agent, request, &saying);
                        let saying = saying.adding(&text);
                        let text = unheard::said(request, &saying, results);
                        let saying = saying.adding(&text);
                        let text = format!("{note}{}", saying.text);
                        Step::Say(Saying { text, ..saying })
                    }
                    step => step,
                }
            }
        }
    }
}

/// Says what of a request is not taken, once nothing more is asked. The designer says it itself.
fn left_out(agent: ChatAgent, request: &Request, saying: &Saying) -> String {
    let is_said = agent != ChatAgent::Design && !matches!(saying.wait, Wait::Ask(_));
    let left = request.left.iter().filter(|_| is_said);
    left.map(String::as_str).collect::<Vec<_>>().join("\n")
}

fn all_of(client: &str) -> Call {
    Call {
        tool: Tool::SearchComponent,
        args: args([("clientId", client.into()), ("criteria", json!({}))]),
    }
}

/// Goes on with the component that was chosen.
fn chosen(pending: &Pending, id: &str, results: &[Value]) -> Step {
    editor::proceed(pending.call(), Some(id), results, "").settling(Some(Settled::Chosen))
}

/// Does what was confirmed, and says what came of it.
fn confirmed(pending: &Pending, results: &[Value]) -> Step {
    let call = pending.call();
    let Some(result) = results.first() else {
        return Step::Call(call);
    };
    Step::Say(match call.tool {
        Tool::SearchComponent => clarifier::offered(pending, result),
        Tool::UpdateDesign => match fault(result) {
            Some(error) => Saying::new(pending.agent, format!("{error} Nothing was changed.")),
            None => {
                let done = restated(pending);
                Saying::new(
                    pending.agent,
                    format!("Design updated successfully: {done}."),
                )
            }
        },
        _ => editor::done(&call, result),
    })
}

fn restated(pending: &Pending) -> String {
    let updates = pending.args.get("designUpdates").and_then(Value::as_object);
    updates.map(design::restated).unwrap_or_default()
}

/// Says what waits.
fn waiting(pending: &Pending) -> String {
    match pending.tool {
        Tool::UpdateDesign => {
            let client = text(&pending.args, "clientId");
            format!("change {} for client {client}", restated(pending))
        }
        Tool::SearchComponent => "show all your components".to_string(),
        _ => editor::understood(&pending.call()),
    }
}

/// Says what waits, and for which answer.
fn still(pending: &Pending) -> String {
    let answer = match pending.kind {
        PendingKind::Confirm => "Should I proceed? Answer yes or no.",
        PendingKind::Select => "Please select one by its number, its ID or its title.",
    };
    format!("Still waiting: {}. {answer}", waiting(pending))
}

fn nothing_waits(late: Option<String>) -> Saying {
    let nothing = "Nothing is waiting for an answer, and nothing was changed.";
    let text = late.map_or(nothing.to_string(), |late| late.trim_end().to_string());
    Saying::new(ChatAgent::Clarifier, text)
}

fn dropped() -> Saying {
    let text = "Cancelled: I no longer wait for an answer. Nothing was changed.";
    Saying::new(ChatAgent::Clarifier, text)
}

/// Says whether a message only asks back: "what?"
fn is_question(message: &str) -> bool {
    let text = message.trim().to_lowercase();
    let asked = text.trim_end_matches(['?', '!', '.']).trim_end();
    // A single word of another kind, such as "Who?", can be a title.
    let back = [
        "",
        "what",
        "huh",
        "pardon",
        "what do you mean",
        "which one",
        "which ones",
        "what can i say",
    ];
    text.ends_with('?') && back.contains(&asked)
}

fn asks_again(doing: &Doing) -> bool {
    let step = doing.next(&[]);
    matches!(step, Step::Say(saying) if matches!(saying.wait, Wait::Ask(_)))
}
