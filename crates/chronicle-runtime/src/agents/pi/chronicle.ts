// Brings Pi under Chronicle: asks the supervisor before every tool, and hands the worker's signals on.
// Both go over the dialogs of RPC mode, which wait until they are answered. Works on Pi 0.87 and 1.5.
import { Type } from "typebox";

const TOOLS = [/* TOOLS */];

async function ask(ctx, title, question) {
  const answer = await ctx.ui.input(title, JSON.stringify(question));
  if (answer === undefined) return undefined;
  try {
    return JSON.parse(answer);
  } catch {
    return undefined;
  }
}

export default function (pi) {
  for (const tool of TOOLS) {
    pi.registerTool({
      name: tool.name,
      label: tool.name,
      description: tool.description,
      parameters: Type.Unsafe(tool.schema),
      async execute(id, params, signal, onUpdate, ctx) {
        const answer = await ask(ctx, "chronicle:signal", { id, tool: tool.name, input: params });
        if (!answer?.accepted) throw new Error(answer?.text ?? "the supervisor gave no answer");
        return { content: [{ type: "text", text: answer.text }], details: {} };
      },
    });
  }
  pi.on("tool_call", async (event, ctx) => {
    const question = { id: event.toolCallId, tool: event.toolName, input: event.input };
    const answer = await ask(ctx, "chronicle:permission", question);
    if (answer?.allow === true) return undefined;
    return { block: true, reason: answer?.deny ?? "the supervisor gave no answer" };
  });
}
