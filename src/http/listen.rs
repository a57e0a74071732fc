//! Accepts connections, limits their resources, and shuts them down.

use std::future::ready;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, HttpBody};
use bytes::Bytes;
use futures_util::StreamExt as _;
use hyper::body::{Frame, Incoming, SizeHint};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::{GracefulConnection, GracefulShutdown};
use rustix::net::sockopt::set_socket_send_buffer_size;
use rustix::process::{Resource, getrlimit, setrlimit};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::{Builder, Handle, Runtime};
use tokio::signal::unix::{SignalKind, signal};
use tokio_io_timeout::TimeoutStream;
use tower_service::Service as _;

use super::guard::HEAD_MAX;
use super::places::Places;
use super::respond;
use super::server::Server;
use crate::error::{Code, Error, Result};
use crate::runner::signals;

/// Maximum number of threads for disk access.
const THREADS: usize = 64;
/// Pause after a failed accept.
const PAUSE: Duration = Duration::from_millis(50);
/// Maximum number of connections of one address.
const ADDRESS_MAX: usize = 256;
/// Time without progress of a reader before its connection is closed.
const DEAF: Duration = Duration::from_secs(60);
/// Size of the send buffer, in bytes. Progress is noticed after a part of it was read, so a small
/// one detects slow readers in time.
const HELD: usize = 128 << 10;
/// Maximum time to wait for a stopped execution to record its end.
const LAST: Duration = Duration::from_secs(5);

pub(crate) struct Listening {
    runtime: Runtime,
    listener: TcpListener,
    address: SocketAddr,
}

/// Listens on an address; port 0 picks a free one. `jobs` limits the calls, and the executions,
/// that wait for models and workers.
pub(crate) fn listen(address: SocketAddr, jobs: usize) -> Result<Listening> {
    // Each connection is an open file, so the limit of files limits connections.
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    let _ = setrlimit(Resource::Nofile, limit);
    let runtime = Builder::new_multi_thread()
        .worker_threads(std::thread::available_parallelism().map_or(2, |n| n.get().min(4)))
        .max_blocking_threads(THREADS + 2 * jobs)
        .enable_all()
        .build();
    let runtime = runtime.map_err(|cause| {
        Error::new(Code::Internal, "the server's threads cannot be started").because(cause)
    })?;
    let listener = runtime.block_on(TcpListener::bind(address));
    let listener = listener.map_err(|cause| refuse_address(address, cause))?;
    let address = listener
        .local_addr()
        .map_err(|cause| refuse_address(address, cause))?;
    Ok(Listening {
        runtime,
        listener,
        address,
    })
}

fn refuse_address(address: SocketAddr, cause: std::io::Error) -> Error {
    let message = format!("the server cannot listen on {address}: {cause}");
    Error::new(Code::InputInvalid, message)
        .or("serve at a free port", "cleo serve --port 0")
        .because(cause)
}

impl Listening {
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Answers until SIGINT, SIGTERM or SIGHUP. Requests in progress may finish within the grace
    /// time; a second signal ends them at once.
    pub(crate) fn serve(self, server: &Arc<Server>) -> Result<()> {
        // A signal stops the server and not its work.
        signals::ignore_interrupts();
        if !self.runtime.block_on(accept(self.listener, server))? {
            (server.say)("stopping requests in progress");
            signals::end(Code::Terminated);
            server.executors.ends_within(LAST);
        }
        self.runtime.shutdown_timeout(Duration::from_secs(1));
        Ok(())
    }
}

/// Accepts connections until shutdown; returns whether all work ended in time.
async fn accept(listener: TcpListener, server: &Arc<Server>) -> Result<bool> {
    let unheard = |cause| Error::new(Code::Internal, "signals cannot be handled").because(cause);
    let mut interrupt = signal(SignalKind::interrupt()).map_err(unheard)?;
    let mut terminate = signal(SignalKind::terminate()).map_err(unheard)?;
    let heeds_hangup = signals::heeds_hangup();
    let mut hangup = signal(SignalKind::hangup()).map_err(unheard)?;
    let router = respond::router(server);
    let most = server.options.max_connections;
    let places = Places::new(most, ADDRESS_MAX);
    let graceful = GracefulShutdown::new();
    loop {
        let (stream, peer) = tokio::select! {
            next = next(&listener, &places) => next,
            _ = interrupt.recv() => break,
            _ = terminate.recv() => break,
            // `nohup` ignores it, so that a server outlives its terminal.
            _ = hangup.recv(), if heeds_hangup => break,
        };
        // One address cannot use all connections.
        let Some(place) = places.try_take(peer) else {
            continue;
        };
        // Silent clients must not keep the last connections from others.
        let is_scarce = places.in_use() > most / 2;
        let patience = server.options.patience / if is_scarce { 8 } else { 1 };
        let connection = graceful.watch(connection(stream, peer, &router, patience));
        tokio::spawn(async move {
            // A client that is gone or sends invalid data gets no reply.
            let _ = connection.await;
            drop(place);
        });
    }
    // New connections are refused at once.
    drop(listener);
    server.feed.close();
    let grace = server.options.grace;
    let ending = Arc::clone(server);
    let over = async {
        graceful.shutdown().await;
        let settled = tokio::task::spawn_blocking(move || ending.executors.ends_within(grace));
        settled.await.unwrap_or(false)
    };
    Ok(tokio::select! {
        over = over => over,
        () = tokio::time::sleep(grace) => false,
        _ = interrupt.recv() => false,
        _ = terminate.recv() => false,
    })
}

async fn next(listener: &TcpListener, places: &Places<IpAddr>) -> (TcpStream, IpAddr) {
    places.wait_until_free().await;
    loop {
        match listener.accept().await {
            Ok((stream, peer)) => return (stream, peer.ip()),
            // Too many open files, or a client that is gone: neither stops the server.
            Err(_) => tokio::time::sleep(PAUSE).await,
        }
    }
}

fn connection(
    stream: TcpStream,
    peer: IpAddr,
    router: &Router,
    patience: Duration,
) -> impl GracefulConnection<Error = hyper::Error> + use<> {
    // Small writes are sent at once.
    let _ = stream.set_nodelay(true);
    let _ = set_socket_send_buffer_size(&stream, HELD);
    let mut stream = TimeoutStream::new(stream);
    stream.set_write_timeout(Some(DEAF));
    let router = router.clone();
    let service = service_fn(move |mut request: hyper::Request<Incoming>| {
        request.extensions_mut().insert(peer);
        let drained = |body| DrainedBody {
            body: Body::new(body),
            patience,
        };
        let request = request.map(|body| Body::new(drained(body)));
        router.clone().call(request)
    });
    http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(patience)
        .max_buf_size(HEAD_MAX)
        .serve_connection(TokioIo::new(Box::pin(stream)), service)
}

/// The body of a request. A refusal leaves it unread; its rest is read then and thrown away, so that the reply gets
/// through, and the connection can be used again.
struct DrainedBody {
    body: Body,
    patience: Duration,
}

impl HttpBody for DrainedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<std::result::Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for DrainedBody {
    fn drop(&mut self) {
        let Ok(runtime) = Handle::try_current() else {
            return;
        };
        if !self.body.is_end_stream() {
            let body = std::mem::take(&mut self.body);
            let rest = body.into_data_stream().for_each(|_| ready(()));
            runtime.spawn(tokio::time::timeout(self.patience, rest));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::ErrorKind;

    use tokio::net::TcpSocket;

    use super::*;
    use crate::http::server::Options;
    use crate::http::tests::World;

    const LISTEN: &str = "GET /api/events?since=now HTTP/1.1\r\nhost: 127.0.0.1:4680\r\n\r\n";

    /// Accepts connections of the server of a world while a test runs.
    async fn begin(world: &World) -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let server = Arc::clone(&world.server);
        tokio::spawn(async move { accept(listener, &server).await.map(drop) });
        address
    }

    /// Connects from 127.0.0.`from` and sends a text.
    async fn send(address: SocketAddr, from: u8, text: &str) -> TcpStream {
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind(([127, 0, 0, from], 0).into()).unwrap();
        let stream = socket.connect(address).await.unwrap();
        // A connection that was closed at once may be gone.
        let _ = stream.writable().await;
        let _ = stream.try_write(text.as_bytes());
        stream
    }

    /// Waits for an answer, which is empty where the connection was closed.
    async fn read(stream: &TcpStream) -> Vec<u8> {
        let mut bytes = [0; 12];
        loop {
            stream.readable().await.unwrap();
            match stream.try_read(&mut bytes) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                read => return bytes[..read.unwrap_or(0)].to_vec(),
            }
        }
    }

    #[test]
    fn one_address_leaves_connections_and_listeners_to_others() {
        let world = World::new();
        world.runtime.block_on(async {
            let address = begin(&world).await;
            let mut streams = Vec::new();
            for _ in 0..ADDRESS_MAX {
                let stream = send(address, 1, LISTEN).await;
                assert_eq!(read(&stream).await, b"HTTP/1.1 200");
                streams.push(stream);
            }
            assert_eq!(read(&send(address, 1, LISTEN).await).await, b"");
            assert_eq!(read(&send(address, 2, LISTEN).await).await, b"HTTP/1.1 200");
        });
    }

    #[test]
    fn silent_client_is_closed_sooner_when_many_are_connected() {
        let options = Options {
            max_connections: 4,
            patience: Duration::from_secs(2),
            ..Options::default()
        };
        let world = World::at("127.0.0.1:4680", options);
        world.runtime.block_on(async {
            let address = begin(&world).await;
            let mut streams = Vec::new();
            for from in 1..=3 {
                streams.push(send(address, from, "GET / HTTP/1.1\r\n").await);
            }
            tokio::select! {
                _ = read(&streams[0]) => panic!("the first connection is closed first"),
                answer = read(&streams[2]) => assert_eq!(answer, b""),
            }
        });
    }
}
