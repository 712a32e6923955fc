//! What is known about published agents before one is started: tested versions, abilities, installation.

/// What is known about one published agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PublishedAgent {
    /// Name of the agent and of its program.
    pub name: &'static str,
    /// Versions that Chronicle's own tests run.
    pub tested: &'static [&'static str],
    /// How its workers signal, for people.
    pub signals: &'static str,
    /// How its tool calls are checked, for people.
    pub guards: &'static str,
    /// Command that installs it.
    pub install: &'static str,
    /// How to sign in, for people.
    pub sign_in: &'static str,
    /// Environment variables that may hold a key for it.
    pub keys: &'static [&'static str],
    /// Where it keeps a login.
    pub login: Login,
}

/// A file that exists once somebody has signed in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Login {
    /// Environment variable with its folder.
    pub variable: &'static str,
    /// Default folder, below the user's home.
    pub folder: &'static str,
    /// Name of the file in it.
    pub file: &'static str,
}

const CLAUDE: PublishedAgent = PublishedAgent {
    name: "claude",
    tested: &["2.1.325"],
    signals: "through the MCP server `chronicle mcp`, which it starts",
    guards: "asks before every tool, reads and sub-agents included",
    install: "npm install -g @anthropic-ai/claude-code",
    sign_in: "start `claude` once and type `/login`, or set `ANTHROPIC_API_KEY`",
    keys: &["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"],
    login: Login { variable: "CLAUDE_CONFIG_DIR", folder: ".claude", file: ".credentials.json" },
};

const PI: PublishedAgent = PublishedAgent {
    name: "pi",
    tested: &["0.87.1", "1.5.0"],
    signals: "through an extension that Chronicle gives it",
    guards: "the extension asks before every tool, reads included",
    install: "npm install -g @earendil-works/pi-coding-agent",
    sign_in: "start `pi` once and type `/login`, or set your provider's key",
    keys: &["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "OPENROUTER_API_KEY"],
    login: Login { variable: "PI_CODING_AGENT_DIR", folder: ".pi/agent", file: "auth.json" },
};

/// What is known about an agent; `None` if Chronicle cannot drive it.
pub fn about(name: &str) -> Option<PublishedAgent> {
    [CLAUDE, PI].into_iter().find(|about| about.name == name)
}
