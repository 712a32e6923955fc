//! Any call before the guard: it is judged, twice alike, in bounded work, and nothing that follows a forbidden command makes it free.

use chronicle_core::base::tools::ToolKind;
use chronicle_core::definition::guard::built_in;
use chronicle_core::guard::acts::{ShellSetting, acts_counted};
use chronicle_core::guard::{AskedCall, CallFacts, Compiled, Judgement, Whereabouts, judge, look};
use serde_json::{Value, json};

/// More steps than the reader of commands takes for any text; each is a bounded piece of work.
const STEPS_MAX: usize = 25_000;

pub(crate) struct Judge(Compiled);

impl Judge {
    pub(crate) fn new() -> Self {
        let place = Whereabouts {
            project: "/home/ann/proj".to_owned(),
            folder: "/home/ann/proj".to_owned(),
            homes: vec!["/home/ann".to_owned()],
            ..Whereabouts::default()
        };
        Self(Compiled::new(&[built_in()], &place).unwrap_or_else(|error| panic!("{error}")))
    }

    fn judged(&self, tool: &str, input: &Value) -> Judgement {
        let kind = ToolKind::Unknown;
        let call = AskedCall { tool, kind, input, by_sub_agent: false, is_signal: false };
        judge(&self.0, None, &call, &CallFacts::as_written(look(&call, self.0.place())))
    }

    pub(crate) fn check(&self, bytes: &[u8]) {
        let text = String::from_utf8_lossy(bytes);
        let input = json!({ "command": text });
        let judged = self.judged("bash", &input);
        assert_eq!(judged, self.judged("bash", &input), "{text}");
        let (_, steps) = acts_counted(&text, ShellSetting::default());
        assert!(steps <= STEPS_MAX, "{steps} steps for {text}");
        let after = json!({ "command": format!("chronicle approve g1\n{text}") });
        assert!(!matches!(self.judged("bash", &after), Judgement::Clear), "{text}");
        // The same bytes as the input of a tool that nobody knows.
        if let Ok(input) = serde_json::from_slice::<Value>(bytes) {
            let judged = self.judged("mcp__some__tool", &input);
            assert_eq!(judged, self.judged("mcp__some__tool", &input));
        }
    }
}
