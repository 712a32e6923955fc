//! The supervisor's side: one thread listens, one per client answers.

use std::io::{self, BufReader};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use chronicle_core::base::ids::{AttemptId, RunId};
use chronicle_core::base::limits::bounded;
use chronicle_core::base::redact::Redactor;
use chronicle_core::event::input::Answer;
use chronicle_core::event::signal;
use serde_json::Value;

use super::peer::{self, Peer};
use super::seats::{Seat, Seats, Use};
use super::secrets::Secrets;
use super::wire::{self, Ask, Greeting, Hello, LINE_MAX, LINK_VERSION, Reply, Request};
use super::{LINK_FILE, socket_path, whole_name};
use crate::cookie::Cookies;
use crate::fail::{self, Point};
use crate::inbox::Remote;
use crate::ledger::atomic_write;

/// Most views that wait for a watcher; one that is slower misses some, and gets the newest next.
const VIEWS_MAX: usize = 4;
/// How long a client may take to read what it asked for.
const WRITE_PATIENCE: Duration = Duration::from_secs(5);
/// Longest id of a worker's call.
const REQUEST_MAX: usize = 200;
/// How often a client that waits for a person is looked for.
const LOOK_AGAIN: Duration = Duration::from_secs(1);
/// How long a client may take to greet.
const GREET_PATIENCE: Duration = Duration::from_secs(5);

/// The socket of a run that is driven here. It goes away with this value.
pub(crate) struct Server {
    shared: Arc<Shared>,
    socket: PathBuf,
    note: PathBuf,
}

struct Shared {
    run: RunId,
    cookies: Cookies,
    folder: String,
    remote: Remote,
    is_over: AtomicBool,
    seats: Arc<Seats>,
    watchers: Mutex<Vec<SyncSender<Arc<Value>>>>,
    redactor: Redactor,
    secrets: Secrets,
    /// How often a person has answered something: whoever waits for an answer asks again then.
    answers: (Mutex<u64>, Condvar),
}

/// Tells watchers how the run stands. Never waits for any of them.
#[derive(Clone)]
pub(crate) struct Publisher {
    shared: Arc<Shared>,
}

impl Server {
    /// Listens for the run in that folder.
    pub(crate) fn start(
        run_folder: &Path,
        run: RunId,
        remote: Remote,
        (redactor, secrets): (Redactor, Secrets),
    ) -> io::Result<Self> {
        let socket = socket_path(run_folder)?;
        // We hold the run's lock, so a socket that is there is a dead supervisor's.
        match std::fs::remove_file(&socket) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            Ok(()) | Err(_) => {}
        }
        let listener = UnixListener::bind(&socket)?;
        let note = run_folder.join(LINK_FILE);
        atomic_write(&note, socket.as_os_str().as_encoded_bytes())?;
        let shared = Arc::new(Shared {
            cookies: Cookies::of(run_folder, &run),
            run,
            folder: whole_name(run_folder)?,
            remote,
            is_over: AtomicBool::new(false),
            seats: Arc::default(),
            watchers: Mutex::default(),
            redactor,
            secrets,
            answers: (Mutex::new(0), Condvar::new()),
        });
        let listening = Arc::clone(&shared);
        std::thread::Builder::new()
            .name("link".to_owned())
            .spawn(move || listening.listen(&listener))?;
        Ok(Self { shared, socket, note })
    }

    pub(crate) fn publisher(&self) -> Publisher {
        Publisher { shared: Arc::clone(&self.shared) }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Ordering::SeqCst);
        // Wakes the listener, which then sees that it is over.
        let _ = UnixStream::connect(&self.socket);
        let _ = std::fs::remove_file(&self.note);
        let _ = std::fs::remove_file(&self.socket);
        self.shared.watchers().clear();
    }
}

impl Publisher {
    /// Whether anybody would hear it.
    pub(crate) fn has_watchers(&self) -> bool {
        !self.shared.watchers().is_empty()
    }

    /// Wakes whoever waits for a person's answer.
    pub(crate) fn answered(&self) {
        *self.shared.answers() += 1;
        self.shared.answers.1.notify_all();
    }

    pub(crate) fn publish(&self, view: Value) {
        let view = Arc::new(view);
        self.shared.watchers().retain(|watcher| {
            !matches!(watcher.try_send(Arc::clone(&view)), Err(TrySendError::Disconnected(_)))
        });
    }
}

impl Shared {
    fn watchers(&self) -> MutexGuard<'_, Vec<SyncSender<Arc<Value>>>> {
        self.watchers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn answers(&self) -> MutexGuard<'_, u64> {
        self.answers.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The answer, be it that a person must give it first. The same call again is the same question.
    fn settled(
        &self,
        stream: &UnixStream,
        (remote, peer): (&Remote, &Peer),
        ask: &Ask,
    ) -> Option<Answer> {
        loop {
            let before = *self.answers();
            let answer = self.answer(remote, peer, self.without_secrets(ask.clone()));
            if answer != Some(Answer::Waits) {
                return answer;
            }
            let count = self.answers();
            let woken = self.answers.1.wait_timeout_while(count, LOOK_AGAIN, |now| *now == before);
            drop(woken);
            if self.is_over.load(Ordering::SeqCst) || has_hung_up(stream) {
                return None;
            }
        }
    }

    /// What a worker says is written down: secrets go first, as from its other lines.
    fn without_secrets(&self, ask: Ask) -> Ask {
        let Ask::Signal { request, tool, arguments, secret } = ask else { return ask };
        let text = arguments.to_string();
        let arguments = serde_json::from_str(&self.redactor.redact(&text)).unwrap_or(Value::Null);
        Ask::Signal { request, tool, arguments, secret }
    }

    fn answer(&self, remote: &Remote, peer: &Peer, ask: Ask) -> Option<Answer> {
        match (peer, ask) {
            (_, Ask::Ping) => Some(Answer::Accepted("here".to_owned())),
            (_, Ask::Signal { request, tool, arguments, secret }) => {
                match self.signaller(peer, &secret) {
                    Ok(attempt) => signalled(remote, attempt, &request, &tool, &arguments),
                    Err(why) => refuse(why),
                }
            }
            (Peer::Person, ask) => remote.submit(ask.into_command()?),
            (Peer::Own | Peer::Worker(_) | Peer::Stray | Peer::Stranger, _) => {
                refuse("this is a person's command, and a worker gave it")
            }
        }
    }

    /// Who signals: the attempt that the secret belongs to. A process below another attempt may know it and still not use it.
    fn signaller(&self, peer: &Peer, secret: &str) -> Result<AttemptId, &'static str> {
        let known = self.secrets.attempt(secret);
        match (peer, known) {
            (Peer::Own, Some(attempt)) => Ok(attempt),
            (Peer::Worker(attempt), Some(known)) if *attempt == known => Ok(known),
            (Peer::Own | Peer::Worker(_), _) => Err("this is not the secret of your attempt"),
            (Peer::Person | Peer::Stray | Peer::Stranger, _) => {
                Err("only a worker of this run can signal")
            }
        }
    }

    fn listen(self: Arc<Self>, listener: &UnixListener) {
        for stream in listener.incoming() {
            if self.is_over.load(Ordering::SeqCst) {
                return;
            }
            let Ok(stream) = stream else { continue };
            let Ok(Some(seat)) = self.seats.take(&stream) else {
                let _ = turn_away(&stream, "too many are connected");
                continue;
            };
            let it = Arc::clone(&self);
            let serve = move || {
                let _ = it.serve(&stream, &seat);
            };
            // Without a thread the seat is free again.
            let _ = std::thread::Builder::new().name("client".to_owned()).spawn(serve);
        }
    }

    /// Answers one client until it goes, or says something that makes no sense.
    fn serve(&self, mut stream: &UnixStream, seat: &Seat) -> io::Result<()> {
        stream.set_write_timeout(Some(WRITE_PATIENCE))?;
        stream.set_read_timeout(Some(GREET_PATIENCE))?;
        let peer = peer::of(stream, &self.cookies)?;
        if peer == Peer::Stranger {
            return turn_away(stream, "this run is another user's");
        }
        if peer != Peer::Person && !seat.is_for(Use::Worker) {
            return turn_away(stream, "too many workers are connected");
        }
        wire::write(&mut stream, &self.hello())?;
        let mut lines = BufReader::new(stream);
        let Some(greeting) = wire::read::<Greeting>(&mut lines, LINE_MAX)? else { return Ok(()) };
        if greeting.link != LINK_VERSION {
            let why = format!(
                "the supervisor speaks version {LINK_VERSION} of the link, you speak {}",
                greeting.link
            );
            return turn_away(stream, &why);
        }
        stream.set_read_timeout(None)?;
        let remote = self.remote.named(&greeting.who);
        // A worker's seat stays a worker's, whatever it asks.
        let is_for = |wanted| peer != Peer::Person || seat.is_for(wanted);
        while is_for(Use::Idle) {
            match wire::read::<Request>(&mut lines, LINE_MAX) {
                Ok(None) => return Ok(()),
                Err(error) => return turn_away(stream, &error.to_string()),
                Ok(Some(Request { ask: Ask::Watch, .. })) if is_for(Use::Watching) => {
                    return self.watch(stream);
                }
                Ok(Some(Request { ask: Ask::Watch, .. })) => {
                    return turn_away(stream, "too many watch this run");
                }
                // It was hung up on before this was read: nothing of it may happen.
                Ok(Some(_)) if !is_for(Use::Asking) => return Ok(()),
                Ok(Some(Request { id, ask })) => {
                    let reply = Reply::of(id, self.settled(stream, (&remote, &peer), &ask));
                    fail::at(Point::LinkBeforeAnswer);
                    wire::write(&mut stream, &reply)?;
                }
            }
        }
        Ok(())
    }

    fn hello(&self) -> Hello {
        Hello {
            link: LINK_VERSION,
            chronicle: env!("CARGO_PKG_VERSION").to_owned(),
            run: self.run.to_string(),
            folder: self.folder.clone(),
        }
    }

    fn watch(&self, mut stream: &UnixStream) -> io::Result<()> {
        let (views, to_tell): (_, Receiver<Arc<Value>>) = sync_channel(VIEWS_MAX);
        self.watchers().push(views);
        for view in to_tell {
            wire::write(&mut stream, &Reply::View { view: (*view).clone() })?;
        }
        Ok(())
    }
}

fn signalled(
    remote: &Remote,
    attempt: AttemptId,
    request: &str,
    tool: &str,
    arguments: &Value,
) -> Option<Answer> {
    let request = bounded(request, REQUEST_MAX);
    remote.signal(attempt, &request, signal::parse(tool, arguments))
}

#[expect(clippy::unnecessary_wraps, reason = "stands where a remote's answer may be missing")]
fn refuse(why: &str) -> Option<Answer> {
    Some(Answer::Refused(why.to_owned()))
}

/// Whether the other side is gone, so that nobody waits any more.
fn has_hung_up(stream: &UnixStream) -> bool {
    use rustix::net::RecvFlags;
    let mut byte = [0u8; 1];
    let flags = RecvFlags::PEEK | RecvFlags::DONTWAIT;
    matches!(rustix::net::recv(stream, &mut byte, flags), Ok((0, _)))
}

fn turn_away(mut stream: &UnixStream, why: &str) -> io::Result<()> {
    wire::write(&mut stream, &Reply::Refused { id: 0, text: why.to_owned() })
}
