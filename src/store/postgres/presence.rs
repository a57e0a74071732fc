//! Presence of processes that carry out runs, for cleo on other machines. Each notes again and again that it is there,
//! and the clock of the database decides, so that those of the machines do not matter.

use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use postgres_protocol::escape::escape_literal;

use super::Address;
use crate::error::Result;
use crate::store::sql::session::Session;

const RENEWAL: Duration = Duration::from_secs(5);

/// The note that this process is there; it ends with it.
pub(crate) struct Presence {
    end: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Presence {
    pub(crate) fn begin(address: &Address, owner: &str) -> Result<Presence> {
        let connection = address.connect(super::PATIENCE)?;
        let session = Session::new(connection, address.place());
        let owner = escape_literal(owner);
        let note = format!(
            "INSERT INTO presence VALUES ({owner}, clock_timestamp())
             ON CONFLICT (owner) DO UPDATE SET seen = excluded.seen"
        );
        session.run_batch("DELETE FROM presence WHERE seen < now() - interval '1 day'")?;
        session.run_batch(&note)?;
        let (end, ended) = channel();
        let address = address.clone();
        let thread = thread::spawn(move || {
            while ended.recv_timeout(RENEWAL) == Err(RecvTimeoutError::Timeout) {
                if session.run_batch(&note).is_err()
                    && let Ok(connection) = address.connect(Duration::ZERO)
                {
                    session.replace(connection);
                    let _ = session.run_batch(&note);
                }
            }
            let _ = session.run_batch(&format!("DELETE FROM presence WHERE owner = {owner}"));
        });
        Ok(Presence {
            end: Some(end),
            thread: Some(thread),
        })
    }
}

impl Drop for Presence {
    fn drop(&mut self) {
        self.end.take();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
