//! Listens on loopback and plays a script to whoever asks.

use std::io;
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::http::{self, Reply};
use crate::script::{Failure, Script, ScriptedUsage, StallAt};
use crate::stage::{Outcome, Request, Scene, Stage};
use crate::wire::{self, Wire};

/// How long a client may take to send its request.
const READ_MOST: Duration = Duration::from_secs(30);
/// Most connections at once.
const CONNECTIONS_MAX: usize = 64;

/// A running model server. It stops when it is dropped: whatever it still holds open is cut.
pub struct Server {
    address: SocketAddr,
    shared: Arc<ModelState>,
    listener: Option<JoinHandle<()>>,
}

struct ModelState {
    stage: Mutex<Stage>,
    /// Rings whenever anything on the stage changes.
    changed: Condvar,
    open: Mutex<Vec<TcpStream>>,
}

impl Server {
    /// Starts on a free port.
    pub fn start(script: Script) -> io::Result<Self> {
        Self::start_at(script, 0)
    }

    /// Starts on that port.
    pub fn start_at(script: Script, port: u16) -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", port))?;
        let address = listener.local_addr()?;
        let shared = Arc::new(ModelState {
            stage: Mutex::new(Stage::new(script)),
            changed: Condvar::new(),
            open: Mutex::new(Vec::new()),
        });
        let thread = {
            let shared = Arc::clone(&shared);
            thread::Builder::new()
                .name("model".to_owned())
                .spawn(move || listen(&listener, &shared))?
        };
        Ok(Self { address, shared, listener: Some(thread) })
    }

    /// Its base address, without a path: what `ANTHROPIC_BASE_URL` takes; others want `/v1` behind it.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Everything that was asked so far, oldest first.
    pub fn requests(&self) -> Vec<Request> {
        self.shared.stage().requests.clone()
    }

    /// What was asked of the model in a conversation, oldest first, whatever came of it but side requests.
    pub fn asked(&self) -> Vec<crate::Asked> {
        let side = |it: &Request| matches!(it.outcome, Outcome::Played { conversation: None, .. });
        self.requests().into_iter().filter(|it| !side(it)).filter_map(|it| it.asked).collect()
    }

    /// The sum of what was handed out, side requests included: an agent that counts right says the same.
    pub fn usage(&self) -> ScriptedUsage {
        let stage = self.shared.stage();
        stage.requests.iter().fold(ScriptedUsage::NONE, |sum, request| match &request.outcome {
            Outcome::Played { usage, .. } => sum.plus(*usage),
            _ => sum,
        })
    }

    /// Lets a stall of that name go on, now or when it is reached.
    pub fn release(&self, name: &str) {
        self.shared.stage().released.insert(name.to_owned());
        self.shared.changed.notify_all();
    }

    /// Names of the turns that wait to be let go.
    pub fn stalled(&self) -> Vec<String> {
        self.shared.stage().stalled.iter().cloned().collect()
    }

    /// Waits until what was asked so far is as wanted; says whether it came to that in time.
    pub fn wait(&self, most: Duration, is_wanted: impl Fn(&[Request]) -> bool) -> bool {
        self.shared.wait(most, |stage| is_wanted(&stage.requests))
    }

    /// Waits until a turn has reached the stall of that name; says whether it came to that in time.
    pub fn wait_for_stall(&self, name: &str, most: Duration) -> bool {
        self.shared.wait(most, |stage| stage.stalled.contains(name))
    }

    /// What is not as the script meant it: turns that nobody asked for, requests that nothing answers. Empty is good.
    pub fn leftovers(&self) -> Vec<String> {
        self.shared.stage().leftovers()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.shared.stage().is_closed = true;
        self.shared.changed.notify_all();
        for stream in self.shared.open.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            // One that is gone already needs no closing.
            let _ = stream.shutdown(Shutdown::Both);
        }
        // Wakes the listener, which then sees that it is closed.
        let _ = TcpStream::connect(self.address);
        if let Some(thread) = self.listener.take() {
            // It has nothing to say, and a panic in it was printed.
            let _ = thread.join();
        }
    }
}

impl ModelState {
    fn stage(&self) -> MutexGuard<'_, Stage> {
        self.stage.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait(&self, most: Duration, is_wanted: impl Fn(&Stage) -> bool) -> bool {
        let deadline = Instant::now() + most;
        let mut stage = self.stage();
        while !is_wanted(&stage) {
            let Some(left) = deadline.checked_duration_since(Instant::now()) else { return false };
            let waited = self.changed.wait_timeout(stage, left);
            stage = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        true
    }

    fn settle(&self, number: usize, outcome: Outcome) {
        self.stage().settle(number, outcome);
        self.changed.notify_all();
    }

    /// Lets time pass, unless the server closes.
    fn pause(&self, time: Duration) {
        if !time.is_zero() {
            self.wait(time, |stage| stage.is_closed);
        }
    }

    /// Waits for its release; false when the server closes.
    fn stall(&self, name: &str) -> bool {
        let mut stage = self.stage();
        stage.stalled.insert(name.to_owned());
        self.changed.notify_all();
        while !stage.released.contains(name) && !stage.is_closed {
            stage = self.changed.wait(stage).unwrap_or_else(PoisonError::into_inner);
        }
        stage.stalled.remove(name);
        !stage.is_closed
    }
}

fn listen(listener: &TcpListener, shared: &ModelState) {
    thread::scope(|scope| {
        for stream in listener.incoming() {
            if shared.stage().is_closed {
                return;
            }
            let Ok(stream) = stream else { continue };
            if let Some(key) = shared.admit(&stream) {
                scope.spawn(move || {
                    // A client that hangs up has its outcome already.
                    let _ = serve(&stream, shared);
                    shared.leave(&key);
                });
            }
        }
    });
}

impl ModelState {
    /// Takes a connection in, unless there are too many. Its own end is how it is known.
    fn admit(&self, stream: &TcpStream) -> Option<SocketAddr> {
        let peer = stream.peer_addr().ok()?;
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let has_room = open.len() < CONNECTIONS_MAX;
        // A clone is kept, to cut the connection from outside while its own thread waits in a read or a stall.
        open.push(stream.try_clone().ok().filter(|_| has_room)?);
        Some(peer)
    }

    fn leave(&self, peer: &SocketAddr) {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(at) = open.iter().position(|it| it.peer_addr().is_ok_and(|it| it == *peer)) {
            open.swap_remove(at);
        }
        open.retain(|it| it.peer_addr().is_ok());
    }
}

fn serve(stream: &TcpStream, shared: &ModelState) -> io::Result<()> {
    stream.set_read_timeout(Some(READ_MOST))?;
    // Each piece must arrive when it is sent: tests decide by the piece where an agent is interrupted.
    stream.set_nodelay(true)?;
    let incoming = http::read(stream)?;
    let body: Value = serde_json::from_slice(&incoming.body).unwrap_or(Value::Null);
    let wire = wire::find(&incoming.path).filter(|_| incoming.method == "POST");
    let asked = wire.map(|it| it.read(&body));
    let mut stage = shared.stage();
    let Some(number) = stage.keep(&incoming, body.clone(), asked.clone()) else {
        drop(stage);
        return http::write(stream, &Reply::json(400, &json!({"error": "too many requests"})));
    };
    let aside = wire::aside(&incoming.method, &incoming.path, &body, stage.models());
    let (Some(wire), Some(asked)) = (wire, asked) else {
        drop(stage);
        let (outcome, reply) = aside.map_or_else(
            || (Outcome::Failed(404), Reply::json(404, &json!({"error": "no such page"}))),
            |found| (Outcome::Aside, Reply::json(200, &found)),
        );
        shared.settle(number, outcome);
        return http::write(stream, &reply);
    };
    // Under the same lock as the request is kept: two requests at once must not get the same turn.
    let scene = stage.scene(number, &incoming.path, &asked);
    drop(stage);
    shared.changed.notify_all();
    let played = Play { stream, shared, wire, scene: &scene }.play(asked.stream, &body);
    if played.is_err() {
        shared.settle(number, Outcome::Gone);
    }
    played
}

/// One answer on its way.
struct Play<'a> {
    stream: &'a TcpStream,
    shared: &'a ModelState,
    wire: &'static dyn Wire,
    scene: &'a Scene,
}

impl Play<'_> {
    fn play(&self, is_streamed: bool, body: &Value) -> io::Result<()> {
        let turn = &self.scene.turn;
        let is_late = |at| turn.stall.as_ref().is_some_and(|it| it.at == at);
        // An answer in one piece has no middle: it stalls before it.
        if is_late(StallAt::Start) || is_late(StallAt::Middle) && !is_streamed {
            self.stall()?;
        }
        match &turn.fail {
            Some(failure) if failure.midway && is_streamed => self.fail_midway(failure, body),
            Some(failure) => self.fail(failure),
            None if is_streamed => self.stream(body, is_late(StallAt::Middle)),
            None if turn.cut => self.cut(),
            None => {
                self.played();
                let mut reply = Reply::json(200, &self.wire.whole(&self.scene.said));
                reply.headers = self.names();
                http::write(self.stream, &reply)
            }
        }
    }

    fn stream(&self, body: &Value, is_late: bool) -> io::Result<()> {
        let events = self.wire.stream(&self.scene.said, body);
        let half = events.len() / 2;
        let pace = Duration::from_millis(self.scene.turn.pace_ms);
        http::begin(self.stream, &self.names())?;
        for event in &events[..half] {
            self.shared.pause(pace);
            http::piece(self.stream, event)?;
        }
        if is_late {
            self.stall()?;
        }
        if self.scene.turn.cut {
            return self.cut();
        }
        for (index, event) in events.iter().enumerate().skip(half) {
            self.shared.pause(pace);
            // Counted before the agent can know that the turn has ended: who sees the end, sees the sum.
            if index + 1 == events.len() {
                self.played();
            }
            http::piece(self.stream, event)?;
        }
        http::end(self.stream)
    }

    fn fail(&self, failure: &Failure) -> io::Result<()> {
        let reply = self.wire.failure(failure, self.scene.number);
        // Settled before it is sent, so that a test that sees the agent's reaction also finds the outcome here.
        self.shared.settle(self.scene.number, Outcome::Failed(reply.status));
        http::write(self.stream, &reply)
    }

    fn fail_midway(&self, failure: &Failure, body: &Value) -> io::Result<()> {
        let events = self.wire.stream(&self.scene.said, body);
        http::begin(self.stream, &self.names())?;
        for event in &events[..events.len() / 2] {
            http::piece(self.stream, event)?;
        }
        let status = self.wire.failure(failure, self.scene.number).status;
        self.shared.settle(self.scene.number, Outcome::Failed(status));
        http::piece(self.stream, &self.wire.failure_in_stream(failure, self.scene.number))?;
        http::end(self.stream)
    }

    fn cut(&self) -> io::Result<()> {
        self.shared.settle(self.scene.number, Outcome::Cut);
        self.stream.shutdown(Shutdown::Both)
    }

    fn stall(&self) -> io::Result<()> {
        let name = self.scene.turn.stall.as_ref().map_or("", |it| &it.name);
        if self.shared.stall(name) {
            return Ok(());
        }
        Err(io::Error::new(io::ErrorKind::ConnectionAborted, "the server closes"))
    }

    /// The request's name, as either kind of client looks for it.
    fn names(&self) -> Vec<(&'static str, String)> {
        let name = format!("req_{:08}", self.scene.number);
        vec![("request-id", name.clone()), ("x-request-id", name)]
    }

    fn played(&self) {
        let conversation = self.scene.conversation.clone();
        let outcome = Outcome::Played { conversation, usage: self.scene.said.usage };
        self.shared.settle(self.scene.number, outcome);
    }
}
