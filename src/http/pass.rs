//! What lets a caller in, looked at again while an answer takes long: tokens end, and are revoked.

use std::sync::Arc;
use std::time::Duration;

use axum::http::HeaderMap;

use super::guard;
use super::server::Server;
use crate::error::{Error, Result};

/// How often it is looked at again.
pub(super) const LOOK: Duration = Duration::from_secs(1);

/// What lets a caller in.
pub(super) struct Pass {
    server: Arc<Server>,
    headers: HeaderMap,
}

impl Pass {
    /// Keeps what a request was let in with.
    pub(super) fn of(server: &Arc<Server>, headers: &HeaderMap) -> Pass {
        Pass {
            server: Arc::clone(server),
            headers: headers.clone(),
        }
    }

    /// Refuses a caller who would not be let in any more.
    pub(super) fn check(&self) -> Result<()> {
        guard::caller(&self.server, &self.headers).map(drop)
    }

    /// Waits until the caller would not be let in any more, and says why.
    pub(super) async fn ended(&self) -> Error {
        loop {
            tokio::time::sleep(LOOK).await;
            if let Err(error) = self.check() {
                return error;
            }
        }
    }
}
