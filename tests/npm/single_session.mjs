// A server on the official TypeScript SDK with one transport for its whole life, as most examples have it: it knows no session but its own.
//
// Usage: node tests/npm/single_session.mjs PORT
//
// Port 0 is any free one. Prints the port as one line, and runs until its stdin ends. What it does not know is refused by the SDK's transport
// ("Server not initialized", 400). A call with the text "odd" is refused for ever, for no session's sake.

import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { NodeStreamableHTTPServerTransport } from '@modelcontextprotocol/node';
import { McpServer } from '@modelcontextprotocol/server';

const [port] = process.argv.slice(2);
const transport = new NodeStreamableHTTPServerTransport({ sessionIdGenerator: randomUUID });
const mcp = new McpServer({ name: 'single', version: '1' }, { capabilities: { tools: {} } });
const { server } = mcp;
const schema = { type: 'object', properties: { text: { type: 'string' } } };
let calls = 0;
server.setRequestHandler('tools/list', async () => ({ tools: [{ name: 'echo', inputSchema: schema }] }));
server.setRequestHandler('tools/call', async ({ params }) => {
    calls += 1;
    return { content: [{ type: 'text', text: `${params.arguments.text}, call ${calls}` }] };
});
await mcp.connect(transport);

const refuse = (response, text) => response.writeHead(400, { 'Content-Type': 'text/plain' }).end(text);

async function answer(request, response) {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = chunks.length ? JSON.parse(Buffer.concat(chunks).toString()) : undefined;
    if (body?.params?.arguments?.text === 'odd') return refuse(response, 'come again');
    return transport.handleRequest(request, response, body);
}

const http = createServer((request, response) => {
    answer(request, response).catch(error => (console.error(error), response.destroy()));
});
http.listen(Number(port), '127.0.0.1', () => console.log(http.address().port));
process.stdin.resume().on('end', () => process.exit(0));
