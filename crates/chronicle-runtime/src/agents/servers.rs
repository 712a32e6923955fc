//! The file that tells an agent how to reach the signal server, in the form that most agents read: `mcpServers`.
//!
//! The secret of the attempt is in it, and nowhere else: not in the environment of the agent, which every shell that it starts inherits.

use serde_json::json;

use super::{GivenFile, Order, RUN_FOLDER, SECRET};

/// Its name in the attempt's private folder.
pub(super) const FILE: &str = "servers.json";

/// The file of an attempt.
pub(super) fn file(order: &Order, prefers_http: bool) -> GivenFile {
    let server = match order.signals.as_ref().filter(|_| prefers_http) {
        Some(url) => json!({
            "type": "http",
            "url": url,
            "headers": {"Authorization": format!("Bearer {}", order.secret)},
            "alwaysLoad": true,
        }),
        None => json!({
            "type": "stdio",
            "command": order.chronicle.to_string_lossy(),
            "args": ["mcp"],
            "env": {
                RUN_FOLDER: order.run_folder.to_string_lossy(),
                SECRET: order.secret,
            },
            "alwaysLoad": true,
        }),
    };
    GivenFile { name: FILE, text: json!({"mcpServers": {"chronicle": server}}).to_string() }
}
