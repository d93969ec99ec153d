// The reference on the official TypeScript SDK: a server with all that the conformance suite asks for.
//
// Usage: node tests/npm/reference/index.mjs http|stdio
//
// As the reference on Python's SDK (tests/conformance/reference): `http` takes any free port of 127.0.0.1, prints its URL as one line, and runs
// until its stdin ends or it is told to end. Both speak both eras.

import { createServer } from 'node:http';
import { randomUUID } from 'node:crypto';
import { NodeStreamableHTTPServerTransport, toNodeHandler } from '@modelcontextprotocol/node';
import { classifyInboundRequest, createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { Offers } from './offers.mjs';
import { states } from './questions.mjs';

const RETRY_MS = 100; // how soon a client comes back for a closed stream
const ABOUT = { name: 'conformance-reference', title: 'The reference', version: '1' };
const CAPABILITIES = {
    tools: { listChanged: true },
    prompts: { listChanged: true },
    resources: { subscribe: true, listChanged: true },
    logging: {},
    completions: {},
};
const offers = new Offers();

function makeServer({ era }) {
    const isModern = era === 'modern';
    const instructions = 'Ask it whatever the protocol knows.';
    const whole = new McpServer(ABOUT, { capabilities: CAPABILITIES, instructions, requestState: { verify: states.verify } });
    whole.toolInputSchemaJson = name => offers.tools.get(name)?.[1]; // by which the SDK compares headers with arguments
    const { server } = whole;
    const answer = (method, handle) => server.setRequestHandler(method, async (request, ctx) => handle(request.params, ctx));
    answer('tools/list', params => offers.listTools(params));
    answer('tools/call', (params, ctx) => offers.callTool(params, ctx, server, isModern));
    answer('resources/list', params => offers.listResources(params));
    answer('resources/templates/list', () => offers.listTemplates());
    answer('resources/read', params => offers.readResource(params));
    answer('prompts/list', () => offers.listPrompts());
    answer('prompts/get', (params, ctx) => offers.getPrompt(params, ctx));
    answer('completion/complete', params => offers.complete(params));
    if (!isModern) {
        answer('resources/subscribe', ({ uri }) => (offers.subscribed.add(uri), {}));
        answer('resources/unsubscribe', ({ uri }) => (offers.subscribed.delete(uri), {}));
    }
    server.isModern = isModern;
    return whole;
}

offers.update = async (server, uri) => {
    if (server.isModern || offers.subscribed.has(uri)) await server.sendResourceUpdated({ uri }).catch(() => {});
};

// Keeps the events of the SSE streams, so that a client that comes back gets what it missed. An event's id is its place in the list.
class KeptEvents {
    events = [];

    async storeEvent(stream, message) {
        this.events.push([stream, message]);
        return String(this.events.length);
    }

    async replayEventsAfter(last, { send }) {
        const stream = this.events[last - 1]?.[0];
        for (const [index, [itsStream, message]] of this.events.entries()) {
            if (index >= Number(last) && itsStream === stream && message?.jsonrpc) await send(String(index + 1), message);
        }
        return stream;
    }
}

class HttpFace {
    sessions = new Map();
    modern = createMcpHandler(makeServer, { legacy: 'reject' });
    answerModern = toNodeHandler(this.modern);

    constructor() {
        offers.notifier = this.modern.notify;
    }

    async answer(request, response) {
        const body = request.method === 'POST' ? await bodyOf(request) : undefined;
        const id = request.headers['mcp-session-id'];
        if (request.method === 'POST' && this.isModern(request, body)) return this.answerModern(request, response, body);
        if (id && this.sessions.has(id)) return this.sessions.get(id).handleRequest(request, response, body);
        if (id) return refuse(response, 404, -32001, 'Session not found');
        if (body?.method !== 'initialize') return refuse(response, 400, -32000, 'Bad Request: a session is needed');
        return (await this.newSession()).handleRequest(request, response, body);
    }

    isModern(request, body) {
        const { 'mcp-protocol-version': version, 'mcp-method': method } = request.headers;
        return classifyInboundRequest({ httpMethod: 'POST', protocolVersionHeader: version, mcpMethodHeader: method, body }).kind !== 'legacy';
    }

    async newSession() {
        const transport = new NodeStreamableHTTPServerTransport({
            sessionIdGenerator: randomUUID,
            eventStore: new KeptEvents(),
            retryInterval: RETRY_MS,
            onsessioninitialized: id => this.sessions.set(id, transport),
        });
        const server = makeServer({ era: 'legacy' });
        server.server.onclose = () => this.sessions.delete(transport.sessionId);
        await server.connect(transport);
        return transport;
    }
}

async function bodyOf(request) {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    try {
        return JSON.parse(Buffer.concat(chunks).toString());
    } catch {
        return undefined;
    }
}

function refuse(response, status, code, message) {
    response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify({ jsonrpc: '2.0', error: { code, message }, id: null }));
}

function serveHttp() {
    const face = new HttpFace();
    const server = createServer((request, response) => {
        const host = request.headers.host?.replace(/:\d+$/, '');
        const origin = request.headers.origin && new URL(request.headers.origin).hostname;
        if (![host, origin ?? host].every(name => ['127.0.0.1', 'localhost'].includes(name))) return refuse(response, 403, -32000, 'Forbidden');
        face.answer(request, response).catch(error => (console.error(error), response.destroy()));
    });
    server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}/mcp`));
    process.stdin.resume().on('end', () => process.exit(0));
}

process.argv[2] === 'http' ? serveHttp() : serveStdio(makeServer);
