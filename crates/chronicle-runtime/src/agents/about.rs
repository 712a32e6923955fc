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
    /// Environment variables that its workers get although they look like secrets: what it reaches its model with. `*` stands for any
    /// characters.
    pub needs: &'static [&'static str],
    /// Those that it needs only where another variable is set: first that one, then what it needs.
    pub needs_with: &'static [(&'static str, &'static str)],
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
    needs: &["ANTHROPIC_*", "CLAUDE_*", "AWS_BEARER_TOKEN_BEDROCK"],
    needs_with: &[
        ("CLAUDE_CODE_USE_BEDROCK", "AWS_*"),
        ("CLAUDE_CODE_USE_VERTEX", "GOOGLE_APPLICATION_CREDENTIALS"),
        ("CLAUDE_CODE_USE_FOUNDRY", "AZURE_*"),
    ],
    login: Login { variable: "CLAUDE_CONFIG_DIR", folder: ".claude", file: ".credentials.json" },
};

/// The keys of Pi's providers, as both tested versions know them. It knows a login of AWS, too, which is for much more than a model.
const PI_KEYS: [&str; 38] = [
    "AI_GATEWAY_API_KEY",
    "ANTHROPIC_*",
    "ANT_LING_API_KEY",
    "AWS_BEARER_TOKEN_BEDROCK",
    "AZURE_OPENAI_API_KEY",
    "BASETEN_API_KEY",
    "CEREBRAS_API_KEY",
    "CLOUDFLARE_API_KEY",
    "COPILOT_GITHUB_TOKEN",
    "DEEPSEEK_API_KEY",
    "FIREWORKS_API_KEY",
    "GEMINI_API_KEY",
    "GOOGLE_API_KEY",
    "GOOGLE_CLOUD_API_KEY",
    "GROQ_API_KEY",
    "HF_TOKEN",
    "KIMI_API_KEY",
    "LLAMA_API_KEY",
    "META_API_KEY",
    "MINIMAX_API_KEY",
    "MINIMAX_CN_API_KEY",
    "MISTRAL_API_KEY",
    "MOONSHOT_API_KEY",
    "NVIDIA_API_KEY",
    "OPENAI_API_KEY",
    "OPENCODE_API_KEY",
    "OPENROUTER_API_KEY",
    "PI_*",
    "QWEN_TOKEN_PLAN_API_KEY",
    "QWEN_TOKEN_PLAN_CN_API_KEY",
    "RADIUS_API_KEY",
    "TOGETHER_API_KEY",
    "XAI_API_KEY",
    "XIAOMI_API_KEY",
    "XIAOMI_TOKEN_PLAN_*",
    "ZAI_API_KEY",
    "ZAI_CODING_CN_API_KEY",
    "GOOGLE_GENAI_API_KEY",
];

const PI: PublishedAgent = PublishedAgent {
    name: "pi",
    tested: &["0.87.1", "1.5.0"],
    signals: "through an extension that Chronicle gives it",
    guards: "the extension asks before every tool, reads included",
    install: "npm install -g @earendil-works/pi-coding-agent",
    sign_in: "start `pi` once and type `/login`, or set your provider's key",
    keys: &["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "OPENROUTER_API_KEY"],
    needs: &PI_KEYS,
    needs_with: &[],
    login: Login { variable: "PI_CODING_AGENT_DIR", folder: ".pi/agent", file: "auth.json" },
};

/// What is known about an agent; `None` if Chronicle cannot drive it.
pub fn about(name: &str) -> Option<PublishedAgent> {
    [CLAUDE, PI].into_iter().find(|about| about.name == name)
}
