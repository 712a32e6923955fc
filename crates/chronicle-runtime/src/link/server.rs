//! The supervisor's side of the link: one thread listens, one per client answers.

use std::io::{self, BufReader};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use chronicle_core::base::ids::{AttemptId, RunId};
use chronicle_core::base::limits::bounded;
use chronicle_core::base::redact::Redactor;
use chronicle_core::event::input::Answer;
use chronicle_core::event::signal;
use chronicle_core::view::RunView;
use serde_json::Value;

use super::peer::{self, Peer};
use super::seats::{Seat, Seats, Use};
use super::secrets::Secrets;
use super::watchers::Watchers;
use super::wire::{self, Ask, Greeting, Hello, LINE_MAX, LINK_VERSION, Reply, Request};
use super::{LINK_FILE, socket_path, whole_name};
use crate::activity::Activities;
use crate::bell::Bell;
use crate::cookie::Cookies;
use crate::fail::{self, Point};
use crate::inbox::Remote;
use crate::ledger::{Head, quick_write};
use crate::project::RunFolder;
use crate::threads;

/// How long a client may take to read its answer.
const WRITE_PATIENCE: Duration = Duration::from_secs(5);
/// Longest id of a worker's call.
const REQUEST_MAX: usize = 200;
/// How often it is checked whether a client that waits for a person is still there.
const LOOK_AGAIN: Duration = Duration::from_secs(1);
/// Answer to workers that try a person's command.
const FOR_PEOPLE: &str = "this is a person's command, and a worker gave it";
/// Answer to reports from outside: no attempt is performed by a host yet.
const NO_HOST: &str = "only the host that performs an attempt can report about it, and none does";
/// How long a client may take to greet.
const GREET_PATIENCE: Duration = Duration::from_secs(5);

/// The socket of a run that this process drives. It is removed when dropped.
pub(crate) struct Server {
    shared: Arc<LinkState>,
    socket: PathBuf,
    note: PathBuf,
}

struct LinkState {
    run: RunId,
    cookies: Cookies,
    /// The run's folder as both sides name it.
    folder: String,
    remote: Remote,
    is_over: AtomicBool,
    seats: Arc<Seats>,
    watchers: Watchers,
    redactor: Arc<Redactor>,
    secrets: Secrets,
    /// Rings when a person has answered something: clients that wait for an answer ask again.
    answers: Bell,
}

/// What the link shares with other parts of this process.
pub(crate) struct Inside {
    pub(crate) redactor: Arc<Redactor>,
    pub(crate) secrets: Secrets,
    pub(crate) activities: Activities,
}

/// Publishes updates to watchers. Never waits for any of them.
#[derive(Clone)]
pub(crate) struct Publisher {
    shared: Arc<LinkState>,
}

impl Server {
    /// Listens for the run in that folder, whose ledger is synced up to this head.
    pub(crate) fn start(
        run: &RunFolder,
        remote: Remote,
        inside: Inside,
        head: Head,
    ) -> io::Result<Self> {
        let socket = socket_path(&run.path)?;
        // This process holds the run's lock, so an existing socket belongs to a dead supervisor.
        match std::fs::remove_file(&socket) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            Ok(()) | Err(_) => {}
        }
        let listener = UnixListener::bind(&socket)?;
        let note = run.path.join(LINK_FILE);
        // Bind first, then publish the path: a client that reads the note must find a listener. Not synced: no listener
        // survives a power cut.
        quick_write(&note, socket.as_os_str().as_encoded_bytes())?;
        let shared = Arc::new(LinkState {
            cookies: run.cookies(),
            folder: whole_name(&run.path)?,
            run: run.id.clone(),
            remote,
            is_over: AtomicBool::new(false),
            seats: Arc::default(),
            watchers: Watchers::new(run, inside.activities, head),
            redactor: inside.redactor,
            secrets: inside.secrets,
            answers: Bell::default(),
        });
        let listening = Arc::clone(&shared);
        threads::spawn("link", move || listening.listen(&listener))?;
        Ok(Self { shared, socket, note })
    }

    pub(crate) fn publisher(&self) -> Publisher {
        Publisher { shared: Arc::clone(&self.shared) }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Ordering::SeqCst);
        // `accept` cannot be interrupted, so this connection wakes the listener, which then sees `is_over`.
        // After `is_over` is set: the listener looks at it as soon as this connection wakes it.
        let _ = UnixStream::connect(&self.socket);
        // The note goes first, so that new clients find no supervisor instead of a closed socket.
        let _ = std::fs::remove_file(&self.note);
        let _ = std::fs::remove_file(&self.socket);
        // Workers that wait for a person would otherwise notice the end only when they look again by themselves.
        self.shared.answers.ring();
        self.shared.watchers.see_off();
    }
}

impl Publisher {
    /// Wakes clients that wait for a person's answer.
    pub(crate) fn answered(&self) {
        self.shared.answers.ring();
    }

    /// The ledger is synced up to this head.
    pub(crate) fn synced(&self, head: Head) {
        self.shared.watchers.synced(head);
    }

    /// Publishes a new view.
    pub(crate) fn stands(&self, view: Arc<RunView>) {
        self.shared.watchers.stands(view);
    }
}

impl LinkState {
    /// The answer to a request; if a person must give it first, waits for them. The same call sent again is the same question.
    fn settled(
        &self,
        stream: &UnixStream,
        remote: &Remote,
        peer: &Peer,
        ask: &Ask,
    ) -> Option<Answer> {
        loop {
            // Counted before asking: an answer that arrives between asking and waiting must not be missed.
            let before = self.answers.count();
            // Redacted before parsing: the texts of a signal go to the ledger.
            let answer = self.answer(remote, peer, self.without_secrets(ask.clone()));
            if answer != Some(Answer::Waits) {
                return answer;
            }
            self.answers.wait(before, LOOK_AGAIN);
            // A worker that gave up must not keep its seat until a person answers; with the run at rest, nobody will answer here.
            if self.is_over.load(Ordering::SeqCst) || has_hung_up(stream) {
                return None;
            }
        }
    }

    /// Signals are recorded, so they are redacted first, like a worker's other output.
    fn without_secrets(&self, ask: Ask) -> Ask {
        let Ask::Signal { request, tool, mut arguments, secret } = ask else { return ask };
        self.redactor.value(&mut arguments);
        Ask::Signal { request, tool, arguments, secret }
    }

    fn answer(&self, remote: &Remote, peer: &Peer, ask: Ask) -> Option<Answer> {
        match ask {
            Ask::Ping => Some(Answer::Accepted("here".to_owned())),
            Ask::Signal { request, tool, arguments, secret } => {
                match self.signaller(peer, &secret) {
                    Ok(attempt) => signalled(remote, attempt, &request, &tool, &arguments),
                    Err(why) => refuse(why),
                }
            }
            Ask::Report(_) => refuse(NO_HOST),
            // Before the command is looked at: no command of a worker is ever considered, whatever it says.
            Ask::Command(_) if *peer != Peer::Person => refuse(FOR_PEOPLE),
            Ask::Command(command) => match command.barred() {
                Some(why) => refuse(why),
                None => remote.submit(command),
            },
            // Handled in `serve`, which never passes it on.
            Ask::Watch { .. } => None,
        }
    }

    /// The attempt that a signal is from, by its secret. A process below another attempt may know the secret but not use it.
    fn signaller(&self, peer: &Peer, secret: &str) -> Result<AttemptId, &'static str> {
        let known = self.secrets.attempt(secret);
        match (peer, known) {
            // The HTTP signal server is part of this process, so the process tree says nothing about the worker behind it.
            // There, only the secret counts.
            (Peer::Own, Some(attempt)) => Ok(attempt),
            // Both must agree: a secret can be passed on to another worker, and a place in the process tree cannot.
            (Peer::Worker(attempt), Some(known)) if *attempt == known => Ok(known),
            (Peer::Own | Peer::Worker(_), _) => Err("this is not the secret of your attempt"),
            (Peer::Person | Peer::Stray | Peer::Stranger, _) => {
                Err("only a worker of this run can signal")
            }
        }
    }

    fn listen(self: Arc<Self>, listener: &UnixListener) {
        for stream in listener.incoming() {
            // Before it is served: the connection that only wakes this thread must end here.
            if self.is_over.load(Ordering::SeqCst) {
                return;
            }
            // One that failed, for example because there were too many open files, must not end the listener.
            let Ok(stream) = stream else { continue };
            let Ok(Some(seat)) = self.seats.take(&stream) else {
                let _ = turn_away(&stream, "too many are connected");
                continue;
            };
            let (it, stream) = (Arc::clone(&self), Arc::new(stream));
            let served = Arc::clone(&stream);
            let serve = move || {
                let _ = it.serve(&served, &seat);
            };
            // If no thread can be started, the closure is dropped, and its seat with it.
            if let Err(error) = threads::spawn("client", serve) {
                let _ = turn_away(&stream, &format!("no thread to serve it: {error}"));
            }
        }
    }

    /// Serves one client until it disconnects or sends an invalid message.
    fn serve(&self, mut stream: &UnixStream, seat: &Seat) -> io::Result<()> {
        // A client that does not read fills its socket. Without a limit its thread, and its seat, would stay for ever.
        stream.set_write_timeout(Some(WRITE_PATIENCE))?;
        stream.set_read_timeout(Some(GREET_PATIENCE))?;
        // Before the first byte is read: who asks is decided by the kernel, not by what the client says.
        let peer = peer::of(stream, &self.cookies)?;
        if peer == Peer::Stranger {
            return turn_away(stream, "this run is another user's");
        }
        if peer != Peer::Person && !seat.is_for(Use::Worker) {
            // Fewer seats than for everybody: workers that open connections must not lock people out of their own run.
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
        // The time limit was for the greeting only. A client may stay connected and idle; `seats.rs` decides who has to go.
        stream.set_read_timeout(None)?;
        let remote = self.remote.named(&greeting.who);
        // A worker's seat stays a worker's seat, whatever it asks for, so that workers cannot use up the seats of people.
        let is_for = |wanted| peer != Peer::Person || seat.is_for(wanted);
        while is_for(Use::Idle) {
            match wire::read::<Request>(&mut lines, LINE_MAX) {
                Ok(None) => return Ok(()),
                Err(error) => return turn_away(stream, &error.to_string()),
                Ok(Some(Request { ask: Ask::Watch { since, activity }, .. })) => {
                    if peer != Peer::Person {
                        // A worker could otherwise read what other workers say and do.
                        return turn_away(stream, "only a person watches a run");
                    }
                    if !is_for(Use::Watching) {
                        return turn_away(stream, "too many watch this run");
                    }
                    let told = self.watchers.tell(stream, since, activity);
                    // The ledger could not be read; the watcher is told so instead of seeing the connection close.
                    return match told {
                        Err(why) if why.kind() == io::ErrorKind::Other => {
                            turn_away(stream, &why.to_string())
                        }
                        told => told,
                    };
                }
                // It was disconnected before this request was read. It will see no answer, so the request must not take effect.
                Ok(Some(_)) if !is_for(Use::Asking) => return Ok(()),
                Ok(Some(Request { id, ask, mark })) => {
                    // For this request alone: the next one on this connection is another command.
                    let remote = remote.marked(mark);
                    let reply = Reply::of(id, self.settled(stream, &remote, &peer, &ask));
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
}

fn signalled(
    remote: &Remote,
    attempt: AttemptId,
    request: &str,
    tool: &str,
    arguments: &Value,
) -> Option<Answer> {
    // The id goes to the ledger, and is remembered for as long as the attempt lives.
    let request = bounded(request, REQUEST_MAX);
    remote.signal(attempt, &request, signal::parse(tool, arguments))
}

#[expect(clippy::unnecessary_wraps, reason = "stands where a remote's answer may be missing")]
fn refuse(why: &str) -> Option<Answer> {
    Some(Answer::Refused(why.to_owned()))
}

/// True if the client has disconnected.
fn has_hung_up(stream: &UnixStream) -> bool {
    use rustix::net::RecvFlags;
    let mut byte = [0u8; 1];
    // Peeked, not read: a byte that is there belongs to the next request.
    let flags = RecvFlags::PEEK | RecvFlags::DONTWAIT;
    matches!(rustix::net::recv(stream, &mut byte, flags), Ok((0, _)))
}

fn turn_away(mut stream: &UnixStream, why: &str) -> io::Result<()> {
    wire::write(&mut stream, &Reply::Refused { text: why.to_owned() })
}
