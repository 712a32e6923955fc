//! The memory of Chronicle's processes below one supervisor: the share that is theirs alone, as the system counts it.

use std::fs;

/// Memory of a process, in KiB.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Used {
    pub(crate) supervisor: u64,
    pub(crate) keeper: u64,
    pub(crate) server: u64,
}

/// What the supervisor, its keepers and the signal servers below them use now.
pub(crate) fn of(supervisor: u32) -> Used {
    let mut used = Used { supervisor: share(supervisor), ..Used::default() };
    let mut open = children(supervisor);
    while let Some(pid) = open.pop() {
        open.extend(children(pid));
        match second_word(pid).as_str() {
            "keeper" => used.keeper += share(pid),
            "mcp" => used.server += share(pid),
            _ => {}
        }
    }
    used
}

/// Memory that is shared counts in equal parts for all who share it.
fn share(pid: u32) -> u64 {
    let text = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("Pss:"));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}

fn children(pid: u32) -> Vec<u32> {
    let tasks = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let lists = tasks.filter_map(|task| fs::read_to_string(task.path().join("children")).ok());
    let lists: Vec<String> = lists.collect();
    lists.iter().flat_map(|list| list.split_whitespace()).filter_map(|it| it.parse().ok()).collect()
}

fn second_word(pid: u32) -> String {
    let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let word = line.split(|byte| *byte == 0).nth(1).unwrap_or_default();
    String::from_utf8_lossy(word).into_owned()
}
