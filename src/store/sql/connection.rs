//! A connection to PostgreSQL for code that waits for each answer.

use std::future::{Future, poll_fn};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::runtime::{Builder, Runtime};
use tokio::task::{JoinHandle, block_in_place, yield_now};
use tokio_postgres::tls::MakeTlsConnect;
use tokio_postgres::{AsyncMessage, Client, Config, Socket};

const UNTIL_END: &str = "it is there until the connection ends";

pub(in crate::store) type Outcome<T> = Result<T, tokio_postgres::Error>;

/// A client with the runtime that it waits in.
pub(in crate::store) struct Connection {
    /// Both are there until the connection ends.
    runtime: Option<Runtime>,
    client: Option<Client>,
    /// Exchanges messages with the server, while somebody waits.
    driver: JoinHandle<()>,
    has_notices: Arc<AtomicBool>,
}

impl Connection {
    pub(in crate::store) fn open<T>(config: &Config, tls: T) -> Outcome<Connection>
    where
        T: MakeTlsConnect<Socket, Stream: Send + 'static>,
    {
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.expect("there is a file to wait with");
        let (client, mut connection) = block_in_place(|| runtime.block_on(config.connect(tls)))?;
        let has_notices = Arc::new(AtomicBool::new(false));
        let notices = Arc::clone(&has_notices);
        let driver = runtime.spawn(async move {
            let mut next = async || poll_fn(|context| connection.poll_message(context)).await;
            while let Some(Ok(message)) = next().await {
                if matches!(message, AsyncMessage::Notification(_)) {
                    notices.store(true, Ordering::Relaxed);
                }
            }
        });
        Ok(Connection {
            runtime: Some(runtime),
            client: Some(client),
            driver,
            has_notices,
        })
    }

    /// Returns the client, which waits by [`Connection::wait`].
    pub(in crate::store) fn client(&self) -> &Client {
        self.client.as_ref().expect(UNTIL_END)
    }

    /// Waits for an answer. A thread of the server leaves its own runtime meanwhile.
    pub(in crate::store) fn wait<T>(&self, answer: impl Future<Output = T>) -> T {
        let runtime = self.runtime.as_ref().expect(UNTIL_END);
        block_in_place(|| runtime.block_on(answer))
    }

    /// Returns whether the server has sent notices since the last look.
    pub(in crate::store) fn has_notices(&self) -> bool {
        // The first lets the system tell what has come, the second the driver read it.
        self.wait(async {
            yield_now().await;
            yield_now().await;
        });
        self.has_notices.swap(false, Ordering::Relaxed)
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        block_in_place(|| {
            self.client.take();
            if let Some(runtime) = self.runtime.take() {
                // The driver takes leave of the server.
                let _ = runtime.block_on(&mut self.driver);
            }
        });
    }
}
