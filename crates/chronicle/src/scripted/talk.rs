//! The one place that reads the agent's standard input and writes its standard output.

use std::io::{self, BufRead, Write};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, TryRecvError};
use std::time::Duration;

use chronicle_runtime::handle::programs::PROTOCOL;
use chronicle_runtime::handle::threads;
use serde::Deserialize;
use serde_json::{Value, json};

use super::Stop;

/// Both directions of the agent protocol.
pub(super) struct Talk {
    heard: Receiver<Heard>,
    out: io::Stdout,
    interrupted: bool,
    /// Whether it does not do what it is told.
    deaf: bool,
}

/// A message to the agent.
pub(super) enum Heard {
    /// The order, with a new session or one to go on in.
    Open(Box<OpenMessage>),
    Prompt,
    Note(String),
    /// The turn is to end.
    Interrupt,
    /// To a permission, signal or question.
    Answer(Reply),
    /// Nothing more will come.
    End,
}

#[derive(Deserialize)]
pub(super) struct OpenMessage {
    pub(super) place: String,
    #[serde(rename = "try")]
    pub(super) try_number: u32,
    pub(super) session: String,
    /// Whose help was asked for, where this is help.
    #[serde(default)]
    pub(super) followup: Option<String>,
    #[serde(default)]
    pub(super) project: Option<String>,
    /// From the message's type.
    #[serde(skip)]
    pub(super) resume: bool,
}

impl OpenMessage {
    /// What its list is called in a script: the place, and `@` with a name for help at that place.
    pub(super) fn worker(&self) -> String {
        match &self.followup {
            Some(persona) => format!("{}@{persona}", self.place),
            None => self.place.clone(),
        }
    }
}

#[derive(Deserialize, Default)]
pub(super) struct Reply {
    #[serde(default)]
    id: String,
    #[serde(default)]
    answer: String,
    #[serde(default)]
    pub(super) text: String,
}

impl Reply {
    /// Whether the tool may run; anything that is not a clear yes is a no.
    pub(super) fn is_allowed(&self) -> bool {
        self.answer == "allow"
    }

    /// Whether the signal was taken.
    pub(super) fn is_accepted(&self) -> bool {
        self.answer == "accepted"
    }
}

impl Talk {
    pub(super) fn new() -> io::Result<Self> {
        // Without a bound: the reader must always take what comes, or an interrupt would wait behind a step that is being played.
        let (tell, heard) = mpsc::channel();
        // Read by a thread, so that an interrupt is seen while a step is being played.
        threads::spawn("script", move || {
            for line in io::stdin().lock().lines() {
                let Ok(line) = line else { break };
                if let Some(message) = parse(&line)
                    && tell.send(message).is_err()
                {
                    break;
                }
            }
        })?;
        Ok(Self { heard, out: io::stdout(), interrupted: false, deaf: false })
    }

    /// Waits for a message.
    pub(super) fn hear(&mut self) -> Heard {
        self.heard.recv().unwrap_or(Heard::End)
    }

    /// Takes in what came meanwhile; whether the turn is to end.
    pub(super) fn catch_up(&mut self) -> Result<bool, Stop> {
        loop {
            match self.heard.try_recv() {
                Ok(message) => self.aside(message)?,
                Err(TryRecvError::Empty) => return Ok(self.interrupted),
                // The supervisor is gone. Like a real agent, it does not go on without one.
                Err(TryRecvError::Disconnected) => return Err(Stop::Exit(super::CANNOT_GO_ON)),
            }
        }
    }

    /// From now on it is not to be interrupted.
    pub(super) fn ignore_interrupts(&mut self) {
        self.deaf = true;
    }

    /// Whether the turn is to end.
    pub(super) fn is_interrupted(&self) -> bool {
        self.interrupted
    }

    /// Lets time pass while listening; whether the turn is to end.
    pub(super) fn pause(&mut self, time: Duration) -> Result<bool, Stop> {
        match self.heard.recv_timeout(time) {
            Ok(message) => self.aside(message)?,
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Err(Stop::Exit(super::CANNOT_GO_ON)),
        }
        Ok(self.interrupted)
    }

    /// Sends something that must be answered, and waits for that. An interrupt is answered by nobody: a no.
    pub(super) fn ask(&mut self, id: &str, message: &Value) -> Result<Reply, Stop> {
        self.send(message)?;
        loop {
            match self.hear() {
                // Only this call's own answer: one to a call before a kill may still be on its way.
                Heard::Answer(reply) if reply.id == id => return Ok(reply),
                other => self.aside(other)?,
            }
            if self.interrupted {
                return Ok(Reply { text: "interrupted".to_owned(), ..Reply::default() });
            }
        }
    }

    /// Waits for another turn.
    pub(super) fn next_turn(&mut self) -> Result<(), Stop> {
        self.interrupted = false;
        loop {
            match self.hear() {
                Heard::Prompt => return Ok(()),
                Heard::End => return Err(Stop::Exit(0)),
                Heard::Note(text) => self.say(&format!("noted: {text}"))?,
                // Between two turns there is nothing to interrupt, and no answer is waited for.
                Heard::Open(_) | Heard::Interrupt | Heard::Answer(_) => {}
            }
        }
    }

    /// Takes a message that was not waited for.
    fn aside(&mut self, message: Heard) -> Result<(), Stop> {
        match message {
            Heard::Note(text) => self.say(&format!("noted: {text}")),
            Heard::Interrupt => {
                self.interrupted = !self.deaf;
                Ok(())
            }
            Heard::End => Err(Stop::Exit(super::CANNOT_GO_ON)),
            Heard::Open(_) | Heard::Prompt | Heard::Answer(_) => Ok(()),
        }
    }

    /// Names the session; must come first.
    pub(super) fn session(&mut self, session: &str, resumed: bool) -> Result<(), Stop> {
        self.send(&json!({
            "type": "session", "protocol": PROTOCOL, "session": session, "resumed": resumed,
            "agent": "scripted", "version": env!("CARGO_PKG_VERSION"),
        }))
    }

    pub(super) fn say(&mut self, text: &str) -> Result<(), Stop> {
        self.send(&json!({"type": "text", "text": text}))
    }

    pub(super) fn error(&mut self, class: &str, text: &str) -> Result<(), Stop> {
        self.send(&json!({"type": "error", "class": class, "text": text}))
    }

    pub(super) fn finished(&mut self) -> Result<(), Stop> {
        let message = if self.interrupted {
            json!({"type": "finished", "interrupted": true})
        } else {
            json!({"type": "finished"})
        };
        self.send(&message)
    }

    pub(super) fn send(&mut self, message: &Value) -> Result<(), Stop> {
        self.line(message.to_string().as_bytes())
    }

    /// Sends one line, whatever it is.
    pub(super) fn line(&mut self, bytes: &[u8]) -> Result<(), Stop> {
        let mut out = self.out.lock();
        out.write_all(bytes)
            .and_then(|()| out.write_all(b"\n"))
            // Flushed line by line, or the supervisor would wait for an agent that waits for its answer.
            .and_then(|()| out.flush())
            .map_err(Stop::io("write to the supervisor"))
    }
}

/// What a line says; none for what this agent does not know.
fn parse(line: &str) -> Option<Heard> {
    let message: Value = serde_json::from_str(line).ok()?;
    let kind = message.get("type")?.as_str()?.to_owned();
    let text = || message.get("text").and_then(Value::as_str).unwrap_or_default().to_owned();
    match kind.as_str() {
        "start" | "resume" => {
            let mut open: OpenMessage = Deserialize::deserialize(&message).ok()?;
            open.resume = kind == "resume";
            Some(Heard::Open(Box::new(open)))
        }
        "prompt" => Some(Heard::Prompt),
        "note" => Some(Heard::Note(text())),
        "interrupt" => Some(Heard::Interrupt),
        "answer" => Some(Heard::Answer(Deserialize::deserialize(&message).ok()?)),
        _ => None,
    }
}
