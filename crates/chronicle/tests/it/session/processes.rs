//! The living processes of a run, found as a person would: by what their environment says.

use std::fs;

/// Every living process that carries a cookie of the run, its keepers too.
pub(crate) fn of_run(run: &str) -> Vec<u32> {
    let mark = format!("CHRONICLE_COOKIE={}-", super::short(run));
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let ids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    ids.filter(|pid| is_alive(*pid) && has_variable(*pid, &mark)).collect()
}

pub(crate) fn keepers(run: &str) -> Vec<u32> {
    of_run(run).into_iter().filter(|pid| second_word(*pid) == "keeper").collect()
}

/// Its living scripted agents.
pub(crate) fn agents(run: &str) -> Vec<u32> {
    of_run(run).into_iter().filter(|pid| second_word(*pid) == "scripted-agent").collect()
}

/// Its living agents, whatever their program: what the keepers started, or the first processes of their walls.
pub(crate) fn workers(run: &str) -> Vec<u32> {
    let all = of_run(run);
    let is_above = |pid: &u32| ["keeper", "wall", "wall-init"].contains(&&*second_word(*pid));
    let above: Vec<u32> = all.iter().copied().filter(is_above).collect();
    let is_below = |pid: &u32| above.contains(&parent(*pid)) && !above.contains(pid);
    all.iter().copied().filter(is_below).collect()
}

/// Every living process whose folder this is.
pub(crate) fn working_in(folder: &std::path::Path) -> Vec<u32> {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let ids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let is_there =
        |pid: &u32| fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|it| it == folder);
    ids.filter(|pid| is_alive(*pid) && is_there(pid)).collect()
}

/// The first processes of its walls, as they are called here.
pub(crate) fn inits(run: &str) -> Vec<u32> {
    of_run(run).into_iter().filter(|pid| second_word(*pid) == "wall-init").collect()
}

/// The outer sides of its walls.
pub(crate) fn outers(run: &str) -> Vec<u32> {
    of_run(run).into_iter().filter(|pid| second_word(*pid) == "wall").collect()
}

fn parent(pid: u32) -> u32 {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let after_name = stat.rsplit_once(") ").map(|(_, rest)| rest).unwrap_or_default();
    after_name.split(' ').nth(1).and_then(|it| it.parse().ok()).unwrap_or(0)
}

fn has_variable(pid: u32, mark: &str) -> bool {
    let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
    environment.split(|byte| *byte == 0).any(|variable| variable.starts_with(mark.as_bytes()))
}

fn second_word(pid: u32) -> String {
    let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let word = line.split(|byte| *byte == 0).nth(1).unwrap_or_default();
    String::from_utf8_lossy(word).into_owned()
}

/// One that has ended and waits to be reaped does not live.
fn is_alive(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = stat.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next());
    state.is_some_and(|state| !['Z', 'X'].contains(&state))
}
