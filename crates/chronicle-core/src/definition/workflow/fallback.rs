//! What a phase's `fallback` names: agents, each perhaps with a model.

/// The agent and the model of an entry such as `pi`, `claude:haiku` or `command:PROGRAM ARGS`. What follows the colon of a
/// script or a command is part of its name.
pub fn agent_and_model(named: &str) -> (&str, Option<&str>) {
    match named.split_once(':') {
        // These have a colon in their own names, before a script or a command. What follows it is no model.
        None | Some(("scripted" | "command", _)) => (named, None),
        Some((agent, model)) => (agent.trim(), Some(model.trim()).filter(|it| !it.is_empty())),
    }
}
