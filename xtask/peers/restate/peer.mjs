// Restate doing durable steps: `peer.mjs version | steps FOLDER COUNT | crash FOLDER | again FOLDER`, run where its packages
// are installed. A step adds one line to a file, as an agent's work would change the world; `crash` kills its server and
// itself inside of its second step, `again` lets the system go on from there.

import { spawn } from "node:child_process";
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import http2 from "node:http2";
import net from "node:net";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { createRequire } from "node:module";

const require = createRequire(join(process.cwd(), "package.json"));
const [verb, folder, count] = process.argv.slice(2);

function version(name) {
  return JSON.parse(readFileSync(join(process.cwd(), "node_modules", name, "package.json"))).version;
}

if (verb === "version") {
  const names = ["@restatedev/restate-server", "@restatedev/restate-sdk"];
  console.log(names.map((name) => `${name} ${version(name)}`).join(", "));
  process.exit(0);
}

// The SDK asks for a newer Node than some machines have.
Promise.withResolvers ??= function withResolvers() {
  const it = {};
  it.promise = new this((resolve, reject) => Object.assign(it, { resolve, reject }));
  return it;
};

const restate = require("@restatedev/restate-sdk");
mkdirSync(folder, { recursive: true });

/// Ports that nobody has; the same again after a crash, since the server remembers where its services are.
async function ports() {
  const file = join(folder, "ports.json");
  if (existsSync(file)) return JSON.parse(readFileSync(file));
  const found = [];
  for (let index = 0; index < 4; index += 1) {
    const server = net.createServer();
    await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
    found.push({ server, port: server.address().port });
  }
  const numbers = found.map(({ port }) => port);
  await Promise.all(found.map(({ server }) => new Promise((closed) => server.close(closed))));
  writeFileSync(file, JSON.stringify(numbers));
  return numbers;
}

const [admin, ingress, node, own] = await ports();
const server = spawn("node_modules/.bin/restate-server", ["--base-dir", join(folder, "server")], {
  stdio: "ignore",
  detached: true,
  env: {
    ...process.env,
    RESTATE_DISABLE_TELEMETRY: "true",
    RESTATE_ADMIN__BIND_ADDRESS: `127.0.0.1:${admin}`,
    RESTATE_INGRESS__BIND_ADDRESS: `127.0.0.1:${ingress}`,
    RESTATE_BIND_ADDRESS: `127.0.0.1:${node}`,
    RESTATE_ADVERTISED_ADDRESS: `http://127.0.0.1:${node}`,
    RESTATE_NODE_NAME: "one",
    RESTATE_CLUSTER_NAME: "bench",
  },
});

/// The package starts the server as a child: both go, with all that they started.
function end_server(signal) {
  try {
    process.kill(-server.pid, signal);
  } catch {
    // It has ended by itself.
  }
}

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  process.on(signal, () => {
    end_server("SIGKILL");
    process.exit(1);
  });
}

/// One step with an effect; half done when it dies.
function work(number) {
  if (verb === "steps") return;
  appendFileSync(join(folder, "effects"), `${number} `);
  if (verb === "crash" && number === 2) {
    end_server("SIGKILL");
    process.kill(process.pid, "SIGKILL");
  }
}

const steps = restate.workflow({
  name: "steps",
  handlers: {
    run: async (context, most) => {
      for (let number = 1; number <= most; number += 1) {
        await context.run(`step ${number}`, () => work(number));
      }
      return most;
    },
  },
});

async function until(what, ask) {
  const deadline = Date.now() + 120_000;
  for (;;) {
    try {
      const answer = await ask();
      if (answer.ok) return answer;
    } catch {
      // Not there yet.
    }
    if (Date.now() > deadline) throw new Error(`waited in vain until ${what}`);
    await pause(100);
  }
}

function post(url, body) {
  return fetch(url, { method: "POST", body: JSON.stringify(body), headers: { "content-type": "application/json" } });
}

async function main() {
  const handler = restate.createEndpointHandler({ services: [steps] });
  await new Promise((ready) => http2.createServer(handler).listen(own, "127.0.0.1", ready));
  await until("the server is up", () => fetch(`http://127.0.0.1:${admin}/health`));
  await until("its door is open", () => fetch(`http://127.0.0.1:${ingress}/restate/health`));
  const goes_on = verb === "again";
  if (!goes_on) {
    await until("the service is known", () => post(`http://127.0.0.1:${admin}/deployments`, { uri: `http://127.0.0.1:${own}` }));
  }
  if (verb === "steps") {
    // Its first invocation waits until the server is ready for any: that is no step.
    await until("the server works", () => post(`http://127.0.0.1:${ingress}/steps/warm/run`, 1));
  }
  const begin = performance.now();
  const done = goes_on
    ? await until("the steps are done", () => fetch(`http://127.0.0.1:${ingress}/restate/workflow/steps/one/attach`))
    : await post(`http://127.0.0.1:${ingress}/steps/one/run`, Number(count ?? 3));
  if (!done.ok) throw new Error(await done.text());
  await done.text();
  console.log((performance.now() - begin) / 1_000);
}

let code = 0;
try {
  await main();
} catch (error) {
  console.error(error);
  code = 1;
}
end_server("SIGKILL");
process.exit(code);
