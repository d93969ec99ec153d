// What the reference asks of an AI client. A tool says what it needs and is written once: the SDK asks a legacy client while the call waits,
// and ends a modern client's call with the questions.

import { CLIENT_CAPABILITIES_META_KEY, createRequestStateCodec, inputRequired } from '@modelcontextprotocol/server';
import { strings } from './content.mjs';

export const states = createRequestStateCodec({ key: crypto.getRandomValues(new Uint8Array(32)) });
export const ROOTS = { method: 'roots/list', params: {} };

export const form = (message, schema) => ({ method: 'elicitation/create', params: { mode: 'form', message, requestedSchema: schema } });
export const sampling = prompt => ({
    method: 'sampling/createMessage',
    params: { messages: [{ role: 'user', content: { type: 'text', text: prompt } }], maxTokens: 100 },
});
export const nameQuestion = form('What is your name?', strings('name'));
export const confirmQuestion = form('Please confirm', { type: 'object', properties: { ok: { type: 'boolean' } }, required: ['ok'] });

// Calls `then` with the answers, by the questions' keys, or ends with the questions that are still open.
export async function ask(ctx, questions, then, state) {
    const given = ctx.mcpReq.inputResponses ?? {};
    if (Object.keys(questions).every(key => key in given)) return then(given);
    return inputRequired({ inputRequests: questions, ...(state && { requestState: await states.mint(state) }) });
}

// What the client says it can: with this request in the modern era, at the start in the legacy one.
export const capabilitiesOf = (ctx, server) => ctx.mcpReq.envelope?.[CLIENT_CAPABILITIES_META_KEY] ?? server.getClientCapabilities() ?? {};

export const field = (answer, name) => answer.content?.[name];
export const saidByModel = answer => answer.content?.text;
