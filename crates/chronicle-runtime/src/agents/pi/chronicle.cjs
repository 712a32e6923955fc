// Brings Pi under Chronicle: asks the supervisor before every tool, and hands the worker's signals on.
// Both go over the dialogs of RPC mode, which wait until they are answered. Works on Pi 0.87 and 1.5.
// Plain CommonJS without imports, so that Pi loads it as it is: a transpiler and a library would take longer than a short turn.

const TOOLS = [/* TOOLS */];
const NONCE = "/* NONCE */";

async function ask(ctx, title, question) {
  const answer = await ctx.ui.input(title, JSON.stringify(question));
  if (answer === undefined) return undefined;
  try {
    return JSON.parse(answer);
  } catch {
    return undefined;
  }
}

function register(pi, tool) {
  pi.registerTool({
    name: tool.name,
    label: tool.name,
    description: tool.description,
    parameters: tool.schema,
    // One after the other: Pi would ask for leave for all calls of a message before any of them runs, and those behind an accepted
    // signal would run after their phase was left.
    executionMode: "sequential",
    async execute(id, params, signal, onUpdate, ctx) {
      const answer = await ask(ctx, "chronicle:signal", { id, tool: tool.name, input: params });
      if (!answer?.accepted) throw new Error(answer?.text ?? "the supervisor gave no answer");
      return { content: [{ type: "text", text: answer.text }], details: {} };
    },
  });
}

// Calls that were allowed, by their ids. Other extensions are asked after this one, and may change the input in place: Pi runs what
// they leave. What is no longer what was judged is told, as soon as it shows and at the latest when the call has ended.
const allowed = new Map();
const LOOKS = [0, 20, 100, 500];
const LOOK_AGAIN = 1000;

function text(input) {
  try {
    return JSON.stringify(input);
  } catch {
    return undefined;
  }
}

function look(id) {
  const call = allowed.get(id);
  if (call === undefined) return;
  const now = text(call.input);
  if (now === call.judged) return;
  call.judged = now;
  const told = { id, tool: call.tool, input: call.input };
  call.ctx.ui.notify("chronicle:ran " + (text(told) ?? ""), "info");
}

function watch(id, looks) {
  const call = allowed.get(id);
  if (call === undefined) return;
  call.timer = setTimeout(() => {
    look(id);
    watch(id, looks + 1);
  }, LOOKS[looks] ?? LOOK_AGAIN);
  call.timer.unref?.();
}

module.exports = function (pi) {
  // First of all: what follows shows the supervisor that this is in force.
  pi.on("tool_call", async (event, ctx) => {
    const { toolCallId: id, toolName: tool, input } = event;
    const judged = text(input);
    const answer = await ask(ctx, "chronicle:permission", { id, tool, input });
    if (answer?.allow !== true) {
      return { block: true, reason: answer?.deny ?? "the supervisor gave no answer" };
    }
    allowed.set(id, { tool, input, judged, ctx });
    watch(id, 0);
    return undefined;
  });
  pi.on("tool_result", async (event) => look(event.toolCallId));
  // Comes also for a call that another extension has blocked, which has no result of its own.
  pi.on("tool_execution_end", async (event) => {
    clearTimeout(allowed.get(event.toolCallId)?.timer);
    allowed.delete(event.toolCallId);
  });
  // Not while Pi loads its extensions: it would refuse to start where another one brings a tool of the same name. Later it takes
  // the tool of the extension that was loaded first, which is this one: those of the command line come before installed ones.
  pi.on("session_start", async (event, ctx) => {
    const ours = new Map(TOOLS.map((tool) => [tool.name, tool.description]));
    const others = () =>
      pi
        .getAllTools()
        .filter((tool) => ours.has(tool.name) && tool.description !== ours.get(tool.name))
        .map((tool) => ({ tool: tool.name, of: tool.sourceInfo?.path ?? "another extension" }));
    const replaced = others();
    for (const tool of TOOLS) register(pi, tool);
    const lost = others();
    if (replaced.length > 0) {
      ctx.ui.notify("chronicle:tools " + JSON.stringify({ replaced, lost }), "info");
    }
    // The handover waits for this.
    ctx.ui.notify("chronicle:proof " + NONCE, "info");
  });
};
