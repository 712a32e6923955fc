// An agent of the protocol in docs/agent-protocol.md whose signals go through the official client of MCP.
// Arguments: the folder of the client's modules, our binary, and `stdio` or `http`. What it saw is written to `seen.json`.
import { readFileSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline";

const [modules, chronicle, way] = process.argv.slice(2);
const { Client } = await import(`${modules}/index.js`);
const { StdioClientTransport } = await import(`${modules}/stdio.js`);
const { StreamableHTTPClientTransport } = await import(`${modules}/streamableHttp.js`);

const send = (type, fields) => process.stdout.write(`${JSON.stringify({ type, ...fields })}\n`);
const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const order = JSON.parse((await lines.next()).value);
send("session", { protocol: 1, session: order.session, resumed: order.type === "resume" });

const server = JSON.parse(readFileSync(order.servers, "utf8")).mcpServers.chronicle;
const SECRET = server.env.CHRONICLE_SECRET;

const connect = async (secret) => {
  const client = new Client({ name: "test", version: "1" });
  const headers = { Authorization: `Bearer ${secret}` };
  const transport =
    way === "http"
      ? new StreamableHTTPClientTransport(new URL(process.env.CHRONICLE_SIGNALS), { requestInit: { headers } })
      : new StdioClientTransport({
          command: chronicle,
          args: ["mcp"],
          env: { ...process.env, ...server.env, CHRONICLE_SECRET: secret },
        });
  await client.connect(transport);
  return client;
};
// What plain requests come to, by their status.
const statuses = async () => {
  const url = process.env.CHRONICLE_SIGNALS;
  const bearer = { Authorization: `Bearer ${SECRET}` };
  const ping = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" });
  const post = (headers, body = ping, to = url) =>
    fetch(to, { method: "POST", headers, body }).then((answer) => answer.status);
  return {
    "no secret": await post({}),
    "a wrong one": await post({ Authorization: "Bearer x" }),
    "a browser": await post({ ...bearer, Origin: "http://127.0.0.1" }),
    "another page": await post(bearer, ping, url.replace("/mcp", "/")),
    "to be spoken to": await fetch(url, { headers: bearer }).then((answer) => answer.status),
    "another version": await post({ ...bearer, "MCP-Protocol-Version": "1999-01-01" }),
    "no JSON": await post(bearer, "{"),
    "only told": await post(bearer, JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" })),
  };
};
const told = ({ content, isError }) => ({ isError: isError ?? false, text: content[0].text });
const failed = (promise) => promise.then(() => "it worked", (error) => error.message);

const client = await connect(SECRET);
const call = async (name, input) => told(await client.callTool({ name, arguments: input }));
const seen = { server: client.getServerVersion()?.name };
await client.ping();
seen.tools = (await client.listTools()).tools.map((tool) => tool.name);
seen.unknown = await failed(client.callTool({ name: "nonesuch", arguments: {} }));
seen.status = await call("workflow_status", {});
seen.wrong = await call("workflow_transition", { target_state: "nowhere", summary: "lost" });
const another = await connect("somebody-else");
seen.stolen = told(await another.callTool({ name: "workflow_transition", arguments: { target_state: "done", summary: "x" } }));
await another.close();
if (way === "http") seen.statuses = await statuses();
const asked = call("workflow_ask", { question: "Which colour?" });
seen.while = await call("workflow_status", {});
seen.answer = await asked;
seen.left = await call("workflow_transition", { target_state: "done", summary: "painted" });
await client.close();
writeFileSync("seen.json", JSON.stringify(seen));
send("finished", {});
