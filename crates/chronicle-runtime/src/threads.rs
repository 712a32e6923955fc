//! Starts threads, for every module of this crate.
//!
//! `std::thread::spawn` and `Scope::spawn` panic when the system has no thread left (`ulimit -u`, `ulimit -v`, a container's limit).
//! A panic on a thread that owes a report would make the driver wait for it without end. Here it is an error, so whoever asks for a
//! thread must say what happens without one.

use std::io;
use std::sync::OnceLock;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::{Builder, JoinHandle, Result as Ended, Scope, ScopedJoinHandle};

/// Names of threads that cannot be started, separated by commas. Tests set it; a real limit cannot be aimed at one thread.
const REFUSED: &str = "CHRONICLE_FAILPOINT_THREADS";

/// Starts a thread, or says why the system gives none.
pub fn spawn<T: Send + 'static>(
    name: &str,
    body: impl FnOnce() -> T + Send + 'static,
) -> io::Result<JoinHandle<T>> {
    refused(name)?;
    Builder::new().name(name.to_owned()).spawn(body)
}

/// Starts a thread that waits for what it works on, so that it exists before that is started. It ends at once if the sender is
/// dropped.
pub(crate) fn spawn_waiting<T: Send + 'static>(
    name: &str,
    body: impl FnOnce(T) + Send + 'static,
) -> io::Result<SyncSender<T>> {
    let (sender, receiver) = sync_channel(1);
    let wait = move || {
        if let Ok(it) = receiver.recv() {
            body(it);
        }
    };
    spawn(name, wait).map(|_| sender)
}

/// Starts a thread that may borrow.
pub fn spawn_in<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    name: &str,
    body: impl FnOnce() -> T + Send + 'scope,
) -> io::Result<ScopedJoinHandle<'scope, T>> {
    refused(name)?;
    Builder::new().name(name.to_owned()).spawn_scoped(scope, body)
}

/// Does two things at once; one after the other if there is no thread. An error means that `beside` panicked on its thread.
pub(crate) fn both<A: Send, B>(
    name: &str,
    beside: impl Fn() -> A + Sync,
    here: impl FnOnce() -> B,
) -> (Ended<A>, B) {
    std::thread::scope(|scope| {
        let thread = spawn_in(scope, name, &beside);
        let here = here();
        (thread.map_or_else(|_| Ok(beside()), ScopedJoinHandle::join), here)
    })
}

fn refused(name: &str) -> io::Result<()> {
    static NAMES: OnceLock<Option<String>> = OnceLock::new();
    let names = NAMES.get_or_init(|| std::env::var(REFUSED).ok());
    let is_refused = |names: &String| names.split(',').any(|refused| refused == name);
    // The error that the system gives.
    let refused = || Err(io::ErrorKind::WouldBlock.into());
    if names.as_ref().is_some_and(is_refused) { refused() } else { Ok(()) }
}
