// Tools for what the suite does not ask: structured content, links, errors of the protocol, URL elicitation, cancellation, updates.
// The same as in the reference on the other SDK.

import { ProtocolError } from '@modelcontextprotocol/server';
import { NO_ARGUMENTS, PIXEL, said, strings } from './content.mjs';
import { report } from './plain_tools.mjs';
import { ask } from './questions.mjs';

const SPECIAL_CODE = -32050;
const CANCELLED_MS = 10_000; // for a cancellation to arrive on a busy machine
const LOGGER = 'peer';
const WEATHER = {
    type: 'object',
    properties: { temperature: { type: 'number' }, tags: { type: 'array', items: { type: 'string' } } },
    required: ['temperature', 'tags'],
};
// What else stands in the list about a tool.
export const LISTED = {
    peer_structured: {
        title: 'Weather',
        outputSchema: WEATHER,
        annotations: { title: 'Weather of today', readOnlyHint: true, openWorldHint: false },
        icons: [{ src: `data:image/png;base64,${PIXEL}`, mimeType: 'image/png', sizes: ['1x1'] }],
        _meta: { 'example.org/kept': [1, { two: null }] },
    },
};

const cancelled = new Map();

// A promise and what fulfils it, by the key of a call.
function cancellation(key) {
    if (!cancelled.has(key)) cancelled.set(key, Promise.withResolvers());
    return cancelled.get(key);
}

function structured() {
    const weather = { temperature: 22.5, tags: ['sunny', 'mild'] };
    return { ...said(JSON.stringify(weather)), structuredContent: weather };
}

function echo(given, ctx) {
    const meta = Object.entries(ctx.mcpReq._meta ?? {}).filter(([key]) => key.startsWith('example.org/') || key === 'traceparent');
    return { ...said(JSON.stringify({ arguments: given, meta: Object.fromEntries(meta) })), _meta: { 'example.org/result': { kept: true } } };
}

function links() {
    const link = { type: 'resource_link', uri: 'test://static-text', name: 'static-text', mimeType: 'text/plain' };
    const blob = { type: 'resource', resource: { uri: 'test://static-binary', mimeType: 'image/png', blob: PIXEL } };
    return said(link, blob, { type: 'text', text: 'for the person', annotations: { audience: ['user'], priority: 0.5 } });
}

function askUrl({ url }, ctx, _server, _offers, isModern) {
    const params = { mode: 'url', message: 'Please sign in', url, ...(isModern ? {} : { elicitationId: 'sign-in' }) };
    return ask(ctx, { visit: { method: 'elicitation/create', params } }, found => said(`action=${found.visit.action}`));
}

async function wait({ key }, ctx) {
    const noticed = cancellation(key);
    const { signal } = ctx.mcpReq;
    signal.addEventListener('abort', () => noticed.resolve());
    await report(ctx, 1, 2, 'waiting');
    if (signal.aborted) noticed.resolve();
    await noticed.promise;
    return said('never');
}

async function isCancelled({ key }) {
    let late;
    const tooLate = new Promise((_, reject) => (late = setTimeout(() => reject(new Error('nothing was cancelled')), CANCELLED_MS)));
    await Promise.race([cancellation(key).promise, tooLate]).finally(() => clearTimeout(late));
    return said('cancelled');
}

async function levels(_arguments, ctx) {
    for (const level of ['debug', 'info', 'error']) await ctx.mcpReq.log(level, { said: level }, LOGGER);
    return said('logged');
}

async function update({ uri }, _ctx, server, offers) {
    await offers.tellUpdate(server, uri);
    return said('told');
}

export const peerTools = {
    peer_structured: ['Structured content, which its output schema describes.', NO_ARGUMENTS, structured],
    peer_echo: ['The arguments and the metadata that arrived.', { type: 'object' }, echo],
    peer_links: ['A link to a resource, and one that is embedded as bytes.', NO_ARGUMENTS, links],
    peer_fail: ['An error of the protocol with a code and data of its own.', NO_ARGUMENTS, () => { throw new ProtocolError(SPECIAL_CODE, 'out of order', { why: ['it', { is: 'so' }] }); }],
    peer_ask_url: ['Asks the person to open an address.', strings('url'), askUrl],
    peer_wait: ['Reports progress once, and ends only when it is cancelled.', strings('key'), wait],
    peer_cancelled: ['Whether the call of `peer_wait` with this key was cancelled; waits for it.', strings('key'), isCancelled],
    peer_levels: ['A log message of each of three levels, as far as the client wants them.', NO_ARGUMENTS, levels],
    peer_update: ['Says that a resource has changed, to those who want to know.', strings('uri'), update],
};
