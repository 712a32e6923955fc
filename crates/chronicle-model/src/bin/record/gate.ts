// Asks its supervisor before every tool, and offers one tool of its own, over the dialogs of RPC mode.
import { Type } from "typebox";

export default function (pi) {
  pi.registerTool({
    name: "signal_back",
    label: "Signal",
    description: "Tells the supervisor how the work went.",
    parameters: Type.Object({ signal: Type.String(), summary: Type.Optional(Type.String()) }),
    async execute(id, params, signal, onUpdate, ctx) {
      const answer = await ctx.ui.input("signal", JSON.stringify({ id, params }));
      return { content: [{ type: "text", text: answer ?? "nobody heard" }], details: {} };
    },
  });
  pi.on("tool_call", async (event, ctx) => {
    if (event.toolName === "signal_back") return undefined;
    const asked = { id: event.toolCallId, tool: event.toolName, input: event.input };
    const answer = await ctx.ui.input("permission", JSON.stringify(asked));
    return answer === "allow" ? undefined : { block: true, reason: answer ?? "no answer" };
  });
}
