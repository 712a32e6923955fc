//! What is known about the published agents before one is started: what was tested, what they can do, what to do without them.

/// One published agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct About {
    /// Its name, and its program's.
    pub name: &'static str,
    /// The versions that Chronicle's own tests run.
    pub tested: &'static [&'static str],
    /// How its workers signal.
    pub signals: &'static str,
    /// What keeps its tools within the rules of a phase.
    pub guards: &'static str,
    /// How it is installed.
    pub install: &'static str,
    /// How one signs in.
    pub sign_in: &'static str,
    /// Variables that hold a key for it.
    pub keys: &'static [&'static str],
    /// Where a login is kept.
    pub login: Login,
}

/// A file that is there once somebody has signed in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Login {
    /// The variable that says where its folder is.
    pub variable: &'static str,
    /// Else the folder, below the user's home.
    pub folder: &'static str,
    /// The file in it.
    pub file: &'static str,
}

const CLAUDE: About = About {
    name: "claude",
    tested: &["2.1.325"],
    signals: "through the MCP server `chronicle mcp`, which it starts",
    guards: "asks before every tool, reads and sub-agents included",
    install: "npm install -g @anthropic-ai/claude-code",
    sign_in: "start `claude` once and type `/login`, or set `ANTHROPIC_API_KEY`",
    keys: &["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"],
    login: Login { variable: "CLAUDE_CONFIG_DIR", folder: ".claude", file: ".credentials.json" },
};

const PI: About = About {
    name: "pi",
    tested: &["0.87.1", "1.5.0"],
    signals: "through an extension that Chronicle gives it",
    guards: "the extension asks before every tool, reads included",
    install: "npm install -g @earendil-works/pi-coding-agent",
    sign_in: "start `pi` once and type `/login`, or set your provider's key",
    keys: &["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "OPENROUTER_API_KEY"],
    login: Login { variable: "PI_CODING_AGENT_DIR", folder: ".pi/agent", file: "auth.json" },
};

/// What is known about an agent; none for one that cannot be driven.
pub fn about(name: &str) -> Option<About> {
    [CLAUDE, PI].into_iter().find(|about| about.name == name)
}
