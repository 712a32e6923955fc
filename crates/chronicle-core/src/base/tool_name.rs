//! Names of tools, as agents give them: what one may stand for, and which can be judged at all.

/// What parts a name from the namespace that some models and agents put before it: `functions.bash`, `default_api:bash`.
const SEPARATORS: [char; 3] = ['.', ':', '/'];

/// True for a name that can be compared with others. Blanks, full-width and foreign letters may look like another name, and an
/// agent may well take them for it.
pub(crate) fn is_plain(tool: &str) -> bool {
    let is_usual = |letter: char| {
        letter.is_ascii_alphanumeric() || "_-".contains(letter) || SEPARATORS.contains(&letter)
    };
    !tool.is_empty() && tool.chars().all(is_usual)
}

/// All that a name may stand for: itself, what follows each namespace, and each part between them. For denials only: as a
/// reason to allow a call it would be a guess.
pub(crate) fn readings(tool: &str) -> Vec<&str> {
    let mut all = vec![tool];
    let mut rest = tool;
    while let Some((part, after)) = rest.split_once(SEPARATORS) {
        all.extend([part, after]);
        rest = after;
    }
    // `mcp__server__tool` is a tool of a server, and its last part is its own. Elsewhere `__` parts like the others.
    let last = rest.rsplit("__").next().filter(|_| !is_of_server(rest));
    all.extend(last);
    all
}

/// A name without the namespace that models put before every tool that they are given: `functions.bash` is `bash`. Others may be those of
/// servers.
pub(crate) fn unwrapped(tool: &str) -> &str {
    const WRAPPERS: [&str; 2] = ["functions", "default_api"];
    let own = WRAPPERS.iter().find_map(|it| tool.strip_prefix(it)?.strip_prefix(SEPARATORS));
    own.filter(|own| !own.is_empty()).unwrap_or(tool)
}

/// True for a name without a namespace before it; one of a server is whole too.
pub(crate) fn is_whole(tool: &str) -> bool {
    !tool.contains(SEPARATORS) && (is_of_server(tool) || !tool.contains("__"))
}

fn is_of_server(tool: &str) -> bool {
    tool.get(..5).is_some_and(|start| start.eq_ignore_ascii_case("mcp__"))
}
