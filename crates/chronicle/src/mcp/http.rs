//! The signal server by HTTP on loopback, for agents that prefer an address: the protocol's streamable HTTP, as much as a server
//! needs that never speaks first. It lives in the supervisor's own process.
//!
//! Whoever calls must bear the secret of their attempt; a page in a browser cannot (its `Origin` is refused). A call that takes
//! long is answered as a stream, with a sign of life now and then, so that no client takes the silence for an end.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::Duration;

use chronicle_runtime::handle::signals::LINE_MAX;
use chronicle_runtime::handle::{new_run_id, threads};
use serde_json::Value;

use super::wire::{self, Call, McpRequest};
use super::{ask, unknown};

/// The only page there is.
const PAGE: &str = "/mcp";
/// Most clients at once.
const CLIENTS_MAX: usize = 32;
/// Most bytes of a request before its body.
const HEAD_MAX: u64 = 16 * 1024;
/// How long a client may take to send its request, or to read what it asked for.
const PATIENCE: Duration = Duration::from_secs(10);
/// How often somebody who waits for a person is given a sign of life.
const ALIVE_EVERY: Duration = Duration::from_secs(15);

/// A server that listens; it goes away with this value.
pub(crate) struct Http {
    shared: Arc<HttpState>,
    address: SocketAddr,
}

struct HttpState {
    run_folder: PathBuf,
    /// Tells the calls of this server from those of one before it.
    name: String,
    is_over: AtomicBool,
    clients: AtomicUsize,
}

/// What a client wants.
struct HttpRequest {
    method: String,
    path: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

/// The answer to a request that is not served.
struct Refusal {
    /// The line of the status.
    status: &'static str,
    why: String,
}

impl Refusal {
    fn new(status: &'static str, why: impl Into<String>) -> Self {
        Self { status, why: why.into() }
    }
}

impl Http {
    /// Listens on a free port of loopback for the run in that folder.
    pub(crate) fn start(run_folder: &Path) -> io::Result<Self> {
        // Loopback only. Everybody on this machine can connect, so each request needs the secret of an attempt.
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let address = listener.local_addr()?;
        let shared = Arc::new(HttpState {
            run_folder: run_folder.to_owned(),
            name: new_run_id(),
            is_over: AtomicBool::new(false),
            clients: AtomicUsize::new(0),
        });
        let listening = Arc::clone(&shared);
        let listen = move || listening.listen(&listener);
        threads::spawn("signals", listen)?;
        Ok(Self { shared, address })
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}{PAGE}", self.address)
    }
}

impl Drop for Http {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Ordering::SeqCst);
        // Wakes the listener, which then sees that it is over.
        let _ = TcpStream::connect(self.address);
    }
}

impl HttpState {
    fn listen(self: Arc<Self>, listener: &TcpListener) {
        for stream in listener.incoming() {
            if self.is_over.load(Ordering::SeqCst) {
                return;
            }
            let Ok(stream) = stream else { continue };
            let it = Arc::clone(&self);
            // Counted before the thread begins: a burst of connections must not pass the limit while the threads start.
            let is_full = it.clients.fetch_add(1, Ordering::SeqCst) >= CLIENTS_MAX;
            // Refused on a thread too: a client that does not read must not hold up the listener.
            let serve = move || {
                let _ = if is_full { refuse(&stream, &full()) } else { it.serve(&stream) };
                it.clients.fetch_sub(1, Ordering::SeqCst);
            };
            // The closure that would have counted it down is gone, unused.
            if threads::spawn("signal", serve).is_err() {
                self.clients.fetch_sub(1, Ordering::SeqCst);
            }
        }
    }

    /// One request and its answer; then the connection ends.
    fn serve(&self, stream: &TcpStream) -> io::Result<()> {
        stream.set_read_timeout(Some(PATIENCE))?;
        // A client that reads nothing would otherwise hold its thread as long as it likes.
        stream.set_write_timeout(Some(PATIENCE))?;
        // Answers are small, and the client waits for each. Held back to be sent together, they would only come later.
        stream.set_nodelay(true)?;
        let asked = match read(stream) {
            Ok(asked) => asked,
            Err(why) => return refuse(stream, &Refusal::new("400 Bad Request", why.to_string())),
        };
        if let Some(why) = barred(&asked) {
            return refuse(stream, &why);
        }
        let Some(secret) = asked.secret() else { return refuse(stream, &no_secret()) };
        match wire::read(&asked.body) {
            Ok(None) => write(stream, "202 Accepted", None),
            Ok(Some(McpRequest::Plain { id, result })) => say(stream, &wire::result(&id, &result)),
            Ok(Some(McpRequest::Call(call))) => self.call(stream, &asked, secret, call),
            Err((id, code, why)) => say(stream, &wire::error(&id, code, &why)),
        }
    }

    fn call(
        &self,
        stream: &TcpStream,
        asked: &HttpRequest,
        secret: &str,
        call: Call,
    ) -> io::Result<()> {
        if let Some(why) = unknown(&call) {
            return say(stream, &why);
        }
        // Room for the answer: its thread must be able to end when nobody waits for it any more.
        let (done, answer) = sync_channel(1);
        let (folder, name) = (self.run_folder.clone(), self.name.clone());
        let (id, secret) = (call.id.clone(), secret.to_owned());
        let work = move || {
            // A client that does not wait any more has no use for it.
            let _ = done.send(ask(&folder, &secret, &name, &call));
        };
        if let Err(error) = threads::spawn("call", work) {
            return say(stream, &wire::answer(&id, Err(super::no_thread(&error))));
        }
        let gone = || Err(super::GONE.to_owned());
        if !asked.takes_streams() {
            return say(stream, &wire::answer(&id, answer.recv().unwrap_or_else(|_| gone())));
        }
        begin_stream(stream)?;
        let answer = loop {
            match answer.recv_timeout(ALIVE_EVERY) {
                Ok(answer) => break answer,
                // Clients give up a silent connection, and a person may need hours. Writing also shows whether the client is
                // still there.
                Err(RecvTimeoutError::Timeout) => sign_of_life(stream)?,
                Err(RecvTimeoutError::Disconnected) => break gone(),
            }
        };
        let message = wire::answer(&id, answer);
        io::Write::write_all(
            &mut &*stream,
            format!("event: message\ndata: {message}\n\n").as_bytes(),
        )
    }
}

impl HttpRequest {
    fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    fn secret(&self) -> Option<&str> {
        self.header("authorization")?.strip_prefix("Bearer ").map(str::trim)
    }

    fn takes_streams(&self) -> bool {
        self.header("accept").is_some_and(|accept| accept.contains("text/event-stream"))
    }
}

fn full() -> Refusal {
    let why = format!("{CLIENTS_MAX} clients are connected already");
    Refusal::new("503 Service Unavailable", why)
}

fn no_secret() -> Refusal {
    Refusal::new("401 Unauthorized", "the secret of an attempt is needed")
}

/// What is refused before anything of it is read.
fn barred(asked: &HttpRequest) -> Option<Refusal> {
    // A web page can make a browser send requests to loopback. Agents send no origin.
    if asked.header("origin").is_some() {
        return Some(Refusal::new("403 Forbidden", "pages of a browser are not served"));
    }
    if asked.path != PAGE {
        return Some(Refusal::new("404 Not Found", format!("there is only `{PAGE}`")));
    }
    if asked.method != "POST" {
        return Some(Refusal::new("405 Method Not Allowed", "this server never speaks first"));
    }
    let version = asked.header("mcp-protocol-version").filter(|version| !wire::speaks(version));
    version.map(|it| {
        Refusal::new("400 Bad Request", format!("version `{}` is not spoken here", it.trim()))
    })
}

fn read(stream: &TcpStream) -> io::Result<HttpRequest> {
    let bad = |why: &str| io::Error::new(io::ErrorKind::InvalidData, why);
    // The head is limited before it is read. A client cannot make the supervisor allocate without end.
    let mut lines = BufReader::new(stream.take(HEAD_MAX));
    let mut line = String::new();
    lines.read_line(&mut line)?;
    let mut words = line.split_whitespace().map(str::to_owned);
    let (Some(method), Some(path)) = (words.next(), words.next()) else {
        return Err(bad("not a request"));
    };
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        lines.read_line(&mut line)?;
        match line.trim_end().split_once(':') {
            Some((name, value)) => headers.push((name.to_owned(), value.trim().to_owned())),
            // Without its end the line was cut by the limit, or the client hung up. Neither is the end of the head.
            None if line.trim_end().is_empty() && line.ends_with('\n') => break,
            None => return Err(bad("a header that makes no sense, or too many of them")),
        }
    }
    let mut asked = HttpRequest { method, path, headers, body: Vec::new() };
    let length = asked.header("content-length").map_or(Ok(0), str::parse::<u64>);
    let length = length.map_err(|_| bad("`content-length` is no number"))?;
    // Refused by what the client announces, before any of it is read.
    if length > LINE_MAX {
        return Err(bad("the body is too long"));
    }
    // The reader may have read a part of the body already.
    let mut body = lines.buffer().to_vec();
    body.truncate(usize::try_from(length).unwrap_or(usize::MAX));
    let rest = length.saturating_sub(body.len() as u64);
    lines.into_inner().into_inner().take(rest).read_to_end(&mut body)?;
    if (body.len() as u64) < length {
        return Err(bad("the body is cut short"));
    }
    asked.body = body;
    Ok(asked)
}

fn refuse(stream: &TcpStream, refusal: &Refusal) -> io::Result<()> {
    write(stream, refusal.status, Some(("text/plain", &refusal.why)))
}

fn say(stream: &TcpStream, message: &Value) -> io::Result<()> {
    write(stream, "200 OK", Some(("application/json", &message.to_string())))
}

fn write(mut stream: &TcpStream, status: &str, body: Option<(&str, &str)>) -> io::Result<()> {
    let (kind, body) = body.unwrap_or(("text/plain", ""));
    let length = body.len();
    let allow = if status.starts_with("405") { "Allow: POST\r\n" } else { "" };
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n{allow}Connection: close\r\n\r\n"
    );
    stream.write_all(format!("{head}{body}").as_bytes())
}

fn begin_stream(mut stream: &TcpStream) -> io::Result<()> {
    stream.write_all(
        b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n",
    )
}

fn sign_of_life(mut stream: &TcpStream) -> io::Result<()> {
    stream.write_all(b": a person is asked\n\n")
}
