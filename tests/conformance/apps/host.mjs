// A host of MCP Apps in a page: the reference client and AppBridge, a sandbox of another origin for each view. Does what `?steps` asks for and
// posts what came of it to /report. A step: {session, tool} calls a tool and shows its view; {click, look, unlike} presses a button in the
// last view once its `look` says something else than `unlike`, and waits until it says something else again.
import { AppBridge, PostMessageTransport, getToolUiResourceUri, isToolVisibilityAppOnly } from "@modelcontextprotocol/ext-apps/app-bridge";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

const PATIENCE_MS = 20_000;
const query = new URLSearchParams(location.search);
const sandbox = query.get("sandbox");
const extensions = { "io.modelcontextprotocol/ui": { mimeTypes: ["text/html;profile=mcp-app"] } };
const sessions = {};
let last;

async function session(name) {
  if (!sessions[name]) {
    const client = new Client({ name: `host ${name}`, version: "1" }, { capabilities: { extensions } });
    await client.connect(new StreamableHTTPClientTransport(new URL("/mcp", location.href)));
    sessions[name] = client;
  }
  return sessions[name];
}

const within = (promise, what) =>
  Promise.race([promise, new Promise((_, fail) => setTimeout(() => fail(new Error(`${what} took too long`)), PATIENCE_MS))]);

async function show({ session: name, tool: called }) {
  const client = await session(name);
  const { tools } = await client.listTools();
  const tool = tools.find((each) => each.name === called);
  const uri = getToolUiResourceUri(tool);
  const content = (await client.readResource({ uri })).contents[0];
  const result = await client.callTool({ name: called, arguments: {} });
  const frame = document.body.appendChild(document.createElement("iframe"));
  const bridge = new AppBridge(client, { name: "host", version: "1" }, { serverTools: {}, serverResources: {}, logging: {} });
  const told = new Promise((done) => (bridge.onloggingmessage = ({ data }) => done(data)));
  const initialized = new Promise((done) => (bridge.oninitialized = done));
  bridge.onsandboxready = () => bridge.sendSandboxResourceReady({ html: content.text, csp: content._meta?.ui?.csp });
  frame.src = `${sandbox}/apps/sandbox.html`;
  await bridge.connect(new PostMessageTransport(frame.contentWindow, frame.contentWindow));
  await within(initialized, `the view of ${called}`);
  await bridge.sendToolInput({ arguments: {} });
  await bridge.sendToolResult(result);
  last = { frame, told };
  const listed = tools.map(({ name }) => name);
  const hidden = tools.filter(isToolVisibilityAppOnly).map(({ name }) => name);
  return { uri, contentUri: content.uri, mimeType: content.mimeType, meta: content._meta ?? null, listed, hidden, ...(tool._meta ?? {}) };
}

async function done(step) {
  if (step.tool) {
    const shown = await show(step);
    return step.waits ? { ...shown, told: await within(last.told, `what the view of ${step.tool} says`) } : shown;
  }
  const said = new Promise((heard) => addEventListener("message", ({ data }) => data?.seen !== undefined && heard(data.seen)));
  last.frame.contentWindow.postMessage({ click: step.click, look: step.look, unlike: step.unlike }, "*");
  return within(said, `what the button ${step.click} does`);
}

const report = [];
try {
  for (const step of JSON.parse(query.get("steps"))) report.push(await done(step));
} catch (error) {
  report.push({ error: String(error?.stack ?? error) });
}
await fetch("/report", { method: "POST", body: JSON.stringify(report) });
