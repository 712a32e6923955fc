// Reads and parses the files of pi-workflows folders, and does nothing else with them.
const { readdirSync, readFileSync } = require("node:fs");
const { join } = require("node:path");
const [modules, root] = process.argv.slice(2);
const { parse } = require(join(modules, "yaml"));

let count = 0;
for (const name of readdirSync(root)) {
  const folder = join(root, name);
  const workflow = parse(readFileSync(join(folder, "workflow.yaml"), "utf8"));
  for (const file of workflow.phases) {
    const text = readFileSync(join(folder, file), "utf8");
    const end = text.indexOf("\n---", 3);
    const fields = parse(text.slice(3, end));
    const body = text.slice(end + 4).trim();
    if (fields.id && body) count += 1;
  }
}
console.log(count);
