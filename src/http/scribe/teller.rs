//! Those who are told of an execution.

use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::oneshot;

use crate::error::Result;
use crate::ops::executions::{Begun, Told};
use crate::run::Event;

/// What is told of an execution; how that is shown is not the business of who writes it down.
pub(in crate::http) enum Heard {
    /// It has begun.
    Began(Begun),
    /// Something happened.
    Event(Event),
    /// A piece of an answer came from an agent.
    Piece { agent: String, piece: String },
    /// It is over, or was refused.
    Over(Result<Begun>),
}

/// Where an execution is told about.
pub(super) enum Teller {
    /// When it has begun.
    First(oneshot::Sender<Result<Begun>>),
    /// When it is over.
    Last(oneshot::Sender<Result<Begun>>),
    /// All that happens, with how many events were told.
    All(UnboundedSender<Heard>, usize),
}

impl Teller {
    /// Tells that it has begun.
    pub(super) fn began(self, begun: Begun) -> Open {
        match self {
            Teller::First(teller) => {
                let rest = begun.rest();
                let _ = teller.send(Ok(begun));
                Open {
                    begun: rest,
                    teller: None,
                }
            }
            Teller::All(teller, _) => {
                let _ = teller.send(Heard::Began(begun.clone()));
                let teller = Some(Teller::All(teller, begun.events().len()));
                Open { begun, teller }
            }
            teller => Open {
                begun,
                teller: Some(teller),
            },
        }
    }

    /// Tells what happens on the way.
    pub(super) fn tell(&mut self, told: &Told<'_>) {
        let Teller::All(teller, events) = self else {
            return;
        };
        let heard = match told {
            Told::Event(event) => {
                *events += 1;
                Heard::Event((*event).clone())
            }
            Told::Piece(piece) => Heard::Piece {
                agent: piece.agent.to_string(),
                piece: piece.piece.to_string(),
            },
        };
        // Who is gone is told nothing, and what was begun goes on.
        let _ = teller.send(heard);
    }

    /// Tells how it ended.
    pub(super) fn over(mut self, ended: Result<Begun>) {
        if let (Teller::All(_, told), Ok(begun)) = (&self, &ended) {
            let new = begun.events().iter().skip(*told);
            new.for_each(|event| self.tell(&Told::Event(event)));
        }
        match self {
            Teller::First(teller) | Teller::Last(teller) => drop(teller.send(ended)),
            Teller::All(teller, _) => drop(teller.send(Heard::Over(ended))),
        }
    }
}

/// An execution that is under way, and who waits for its end.
pub(super) struct Open {
    pub(super) begun: Begun,
    pub(super) teller: Option<Teller>,
}
