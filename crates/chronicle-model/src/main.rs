//! `chronicle-model SCRIPT.yaml [PORT]`: plays a script for whoever asks, and prints what is asked.
//!
//! A line on standard input lets a stall of that name go on; an empty one, whatever waits.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "it talks to a terminal")]

use std::process::ExitCode;
use std::time::Duration;
use std::{env, fs, io, thread};

use chronicle_model::{Outcome, Request, Script, Server};

const USE: &str = "Use: chronicle-model SCRIPT.yaml [PORT]";
/// How long one look for new requests lasts; nothing depends on it.
const LOOK: Duration = Duration::from_hours(1);

fn main() -> ExitCode {
    let mut arguments = env::args().skip(1);
    let (Some(path), port) = (arguments.next(), arguments.next()) else {
        eprintln!("Error: no script is named\n{USE}");
        return ExitCode::from(2);
    };
    match play(&path, port.as_deref()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("Error: {why}\n{USE}");
            ExitCode::from(2)
        }
    }
}

fn play(path: &str, port: Option<&str>) -> Result<(), String> {
    let text = fs::read_to_string(path).map_err(|it| format!("`{path}` cannot be read: {it}"))?;
    let script = Script::parse(&text).map_err(|it| it.to_string())?;
    let port = port.map_or(Ok(0), str::parse).map_err(|_| "the port is no number".to_owned())?;
    let server = Server::start_at(script, port).map_err(|it| format!("it cannot listen: {it}"))?;
    println!("ANTHROPIC_BASE_URL={0}\nOPENAI_BASE_URL={0}/v1", server.url());
    thread::scope(|scope| {
        scope.spawn(|| report(&server));
        for line in io::stdin().lines() {
            let name = line.map_err(|it| it.to_string())?;
            let waiting = if name.is_empty() { server.stalled() } else { vec![name] };
            for name in &waiting {
                server.release(name);
            }
        }
        Ok(())
    })
}

/// Prints each request once it is answered, in order. Runs until the program is ended.
fn report(server: &Server) {
    let mut told = 0;
    loop {
        let is_news =
            |requests: &[Request]| requests.get(told).is_some_and(|it| it.outcome != Outcome::Open);
        if server.wait(LOOK, is_news) {
            println!("{}", line(told, &server.requests()[told]));
            told += 1;
        }
    }
}

fn line(number: usize, request: &Request) -> String {
    let what = request.asked.as_ref().map_or_else(String::new, |asked| {
        let (messages, tools) = (asked.messages.len(), asked.tools.len());
        format!(" {} with {messages} messages, {tools} tools", asked.model)
    });
    format!("{number} {} {}{what}: {:?}", request.method, request.path, request.outcome)
}
