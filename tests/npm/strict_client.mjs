// A client on the TypeScript SDK 1.x: lists the tools of the server that its arguments start, and prints their names as a line of JSON. Such
// a client refuses the whole list where one definition is not as its schemas have it, or has an output schema that does not compile.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

const [command, ...args] = process.argv.slice(2);
const client = new Client({ name: "strict", version: "1" });
await client.connect(new StdioClientTransport({ command, args, env: process.env }));
const { tools } = await client.listTools();
console.log(JSON.stringify(tools.map((tool) => tool.name)));
await client.close();
