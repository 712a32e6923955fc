//! What bad agents do: too much, too long, no text at all, processes left behind.

use std::fs::OpenOptions;
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use serde_json::json;

use super::Stop;
use super::step::{Flood, Stray};
use super::talk::Talk;

/// How long a stray lives when nobody ends it: longer than any test waits, and still not for ever.
const STRAY_SECONDS: &str = "600";

/// Says a text of this many bytes, this many times.
pub(super) fn flood(talk: &mut Talk, step: &Flood) -> Result<(), Stop> {
    let text = "x".repeat(step.bytes);
    (0..step.lines).try_for_each(|_| talk.say(&text))
}

/// Sends one line of exactly this many bytes, or as few as a message has.
pub(super) fn long_line(talk: &mut Talk, bytes: usize) -> Result<(), Stop> {
    let empty = json!({"type": "text", "text": ""}).to_string().len();
    talk.say(&"x".repeat(bytes.saturating_sub(empty)))
}

/// Sends one line of bytes that are given in hexadecimal digits.
pub(super) fn bytes(talk: &mut Talk, hex: &str) -> Result<(), Stop> {
    talk.line(&parse(hex).map_err(Stop::script)?)
}

fn parse(hex: &str) -> Result<Vec<u8>, String> {
    let digits: Vec<u32> = hex
        .chars()
        .filter(|c| !c.is_whitespace())
        .map(|c| c.to_digit(16).ok_or_else(|| format!("`{c}` is no hexadecimal digit")))
        .collect::<Result<_, _>>()?;
    let pairs = digits.chunks(2).map(|pair| match pair {
        [high, low] => u8::try_from(high * 16 + low).map_err(|error| error.to_string()),
        _ => Err("a byte has two hexadecimal digits".to_owned()),
    });
    pairs.collect()
}

/// Takes SIGTERM without ending.
pub(super) fn ignore_term() -> Result<(), Stop> {
    let never_read = Arc::new(AtomicBool::new(false));
    signal_hook::flag::register(signal_hook::consts::SIGTERM, never_read)
        .map(drop)
        .map_err(Stop::io("ignore SIGTERM"))
}

/// Lets go of the output; whatever is said later goes nowhere.
pub(super) fn close_stdout() -> Result<(), Stop> {
    OpenOptions::new()
        .write(true)
        .open("/dev/null")
        // Replaced and not closed: the next file that is opened would otherwise become the output.
        .and_then(|nowhere| rustix::stdio::dup2_stdout(&nowhere).map_err(io::Error::from))
        .map_err(Stop::io("close the output"))
}

/// Leaves a process behind.
pub(super) fn stray(project: &Path, step: &Stray) -> Result<(), Stop> {
    start_stray(project, step).map_err(Stop::io("leave a process behind"))
}

fn start_stray(project: &Path, step: &Stray) -> io::Result<()> {
    let mut command = Command::new(if step.setsid { "setsid" } else { "sh" });
    if step.setsid {
        command.arg("sh");
    }
    command.arg("-c").arg(stray_script(step)).arg("stray").current_dir(project);
    command.args(&step.pid).stdin(Stdio::null()).stderr(Stdio::null());
    command.stdout(if step.keep_stdout { Stdio::inherit() } else { Stdio::null() });
    let mut child = command.spawn()?;
    if step.double_fork {
        // The process in between ends at once, and what it started is an orphan by then.
        child.wait()?;
    }
    Ok(())
}

/// `$1` is the file for the process id. An ignored signal stays ignored by what is executed.
fn stray_script(step: &Stray) -> String {
    let trap = if step.ignore_term { "trap '' TERM; " } else { "" };
    // Moved into its place: whoever waits for the file must not read half of a number.
    let pid = if step.pid.is_some() { "echo $$ > \"$1.new\"; mv \"$1.new\" \"$1\"; " } else { "" };
    let live = format!("{trap}{pid}exec sleep {STRAY_SECONDS}");
    if step.double_fork {
        // A shell of its own, so that `$$` is the process that stays.
        format!("sh -c '{}' stray \"$1\" &", live.replace('\'', "'\\''"))
    } else {
        live
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hexadecimal_digits_become_bytes() {
        assert_eq!(parse("ff FE 0a"), Ok(vec![0xff, 0xfe, 0x0a]));
        assert!(parse("f").is_err());
        assert!(parse("zz").is_err());
    }
}
