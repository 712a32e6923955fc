//! What agents print, however much and however bad.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up fails there")]

use std::io::Write;

use chronicle_runtime::for_tests::process::{LINE_MAX, ReadLine, TOO_LONG_START};

use super::process_yard::{AMPLE, Yard, alone, ended, with_and_without_walls};

with_and_without_walls! {
    a_flood_of_lines_comes_whole
    a_line_of_100_mb_is_counted_in_little_memory
    a_flood_that_nobody_reads_can_be_stopped
    a_long_standard_error_fits_before_anybody_reads_it
    bad_utf8_is_told_apart
    an_exit_without_output_is_an_end
    stdin_reaches_the_agent
}

fn a_flood_of_lines_comes_whole(yard: &Yard) {
    let mut running = yard.start("seq 300000");
    let mut count = 0;
    for line in running.lines.by_ref() {
        count += 1;
        assert_eq!(line.unwrap(), ReadLine::Line(count.to_string()));
    }
    assert_eq!(count, 300_000);
    assert_eq!(running.end(), ended(0, 0));
}

fn a_line_of_100_mb_is_counted_in_little_memory(yard: &Yard) {
    alone(&yard.test("process_lines", "a_line_of_100_mb_is_counted_in_little_memory"), || {
        let mut running = yard.start("head -c 104857600 /dev/zero | tr '\\0' x; echo; echo after");
        let start = "x".repeat(TOO_LONG_START);
        let line = running.lines.next().unwrap().unwrap();
        assert_eq!(line, ReadLine::TooLong { start, bytes: 104_857_600 });
        assert_eq!(running.line(), "after");
        assert_eq!(running.end(), ended(0, 0));
        let peak = peak_bytes();
        assert!(peak < 12 * LINE_MAX, "{peak} bytes at the peak");
    });
}

fn peak_bytes() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<usize>().unwrap() * 1024
}

fn a_flood_that_nobody_reads_can_be_stopped(yard: &Yard) {
    let mut running = yard.start("yes");
    assert_eq!(running.line(), "y");
    running.stop(AMPLE);
    yard.assert_empty();
}

/// A dying Node.js drops what does not fit into the pipe at once.
fn a_long_standard_error_fits_before_anybody_reads_it(yard: &Yard) {
    let mut running = yard.start("head -c 200000 /dev/zero >&2; echo told");
    let room = rustix::pipe::fcntl_getpipe_size(&running.stderr).unwrap();
    assert!(room >= 200_000, "room for {room} bytes");
    assert_eq!(running.line(), "told");
    assert_eq!(running.end(), ended(0, 0));
}

fn bad_utf8_is_told_apart(yard: &Yard) {
    let mut running = yard.start(r"printf 'good\nb\377d\nlast'");
    let lines: Vec<_> = running.lines.by_ref().map(Result::unwrap).collect();
    let wanted = [
        ReadLine::Line("good".into()),
        ReadLine::NotUtf8 { text: "b\u{fffd}d".into() },
        ReadLine::Line("last".into()),
    ];
    assert_eq!(lines, wanted);
}

fn an_exit_without_output_is_an_end(yard: &Yard) {
    let mut running = yard.start("exit 0");
    assert!(running.lines.next().is_none());
    assert_eq!(running.end(), ended(0, 0));
}

fn stdin_reaches_the_agent(yard: &Yard) {
    let mut running = yard.start("cat");
    let mut stdin = running.stdin.take().unwrap();
    writeln!(stdin, "there and back").unwrap();
    assert_eq!(running.line(), "there and back");
    drop(stdin);
    assert_eq!(running.end(), ended(0, 0));
}
