// Tools that answer without asking: every kind of content, log messages, progress, errors, changes of the lists.
// Names, texts and pauses are fixed by the conformance suite.

import { setTimeout as pause } from 'node:timers/promises';
import { MissingRequiredClientCapabilityError } from '@modelcontextprotocol/server';
import { embedded, image, NO_ARGUMENTS, said, SILENCE } from './content.mjs';
import { capabilitiesOf } from './questions.mjs';

const PAUSE_MS = 50; // between the steps that the suite wants to see apart
const RECONNECT_MS = 200; // a client whose stream was closed has to come back meanwhile
const NEWCOMER = 'newcomer'; // what comes and goes; the suite does not name it

const KEYWORDS_OF_2020_12 = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    properties: {
        name: { type: 'string' },
        address: { $ref: '#/$defs/address' },
        contactMethod: { type: 'string', enum: ['phone', 'email'] },
        phone: { type: 'string' },
        email: { type: 'string' },
    },
    allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
    if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
    then: { required: ['phone'] },
    else: { required: ['email'] },
    $defs: { address: { $anchor: 'addressDef', type: 'object', properties: { street: { type: 'string' }, city: { type: 'string' } } } },
    additionalProperties: false,
};
const REGION = { type: 'object', properties: { region: { type: 'string', 'x-mcp-header': 'Region' } } };

const log = (ctx, words) => ctx.mcpReq.log('info', words);

async function logSteps(_arguments, ctx) {
    for (const step of ['execution started', 'processing data', 'execution completed']) {
        await log(ctx, `Tool ${step}`);
        await pause(PAUSE_MS);
    }
    return said('Tool with logging executed successfully');
}

async function reportSteps(_arguments, ctx) {
    for (const step of [0, 50, 100]) {
        await report(ctx, step, 100, `Completed step ${step} of 100`);
        await pause(PAUSE_MS);
    }
    return said('Tool with progress executed successfully');
}

export async function report(ctx, progress, total, message) {
    const progressToken = ctx.mcpReq._meta?.progressToken;
    if (progressToken !== undefined) await ctx.mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress, total, message } });
}

async function needSampling(_arguments, ctx, server) {
    if (!capabilitiesOf(ctx, server).sampling) throw new MissingRequiredClientCapabilityError({ requiredCapabilities: { sampling: {} } });
    return said('The client can sample.');
}

async function closeStream(_arguments, ctx) {
    await log(ctx, 'Before the stream is closed');
    ctx.http?.closeSSE?.();
    await pause(RECONNECT_MS);
    await log(ctx, 'After the stream was closed');
    return said('Reconnection test completed');
}

async function toggleTool(_arguments, ctx, server, offers) {
    if (!offers.tools.delete(NEWCOMER)) offers.tools.set(NEWCOMER, offers.tools.get('test_simple_text'));
    await offers.tell(server, 'tools');
    return said('The tools have changed.');
}

async function togglePrompt(_arguments, ctx, server, offers) {
    if (!offers.prompts.delete(NEWCOMER)) offers.prompts.set(NEWCOMER, []);
    await offers.tell(server, 'prompts');
    return said('The prompts have changed.');
}

const mixed = embedded('test://mixed-content-resource', 'application/json', '{"test":"data","value":123}');
const embeddedOne = embedded('test://embedded-resource', 'text/plain', 'This is an embedded resource content.');

// By name: the description, the schema, and what runs with (arguments, ctx, server, offers).
export const plainTools = {
    test_simple_text: ['One text.', NO_ARGUMENTS, () => said('This is a simple text response for testing.')],
    test_image_content: ['One picture.', NO_ARGUMENTS, () => said(image())],
    test_audio_content: ['One sound.', NO_ARGUMENTS, () => said({ type: 'audio', data: SILENCE, mimeType: 'audio/wav' })],
    test_embedded_resource: ['One embedded resource.', NO_ARGUMENTS, () => said(embeddedOne)],
    test_multiple_content_types: ['A text, a picture and a resource.', NO_ARGUMENTS, () => said('Multiple content types test:', image(), mixed)],
    test_tool_with_logging: ['Three log messages on the way.', NO_ARGUMENTS, logSteps],
    test_logging_tool: ['One log message, for clients that asked for log messages.', NO_ARGUMENTS, async (_arguments, ctx) => (await log(ctx, 'logged on the way'), said('logged'))],
    test_tool_with_progress: ['Three reports of progress on the way.', NO_ARGUMENTS, reportSteps],
    test_error_handling: ['A result that says it is an error.', NO_ARGUMENTS, () => ({ ...said('This tool intentionally returns an error for testing'), isError: true })],
    test_x_mcp_header: ['An argument that HTTP clients of the modern era repeat in a header.', REGION, ({ region }) => said(`region=${region}`)],
    test_missing_capability: ['A call for clients that can sample; others get an error that says so.', NO_ARGUMENTS, needSampling],
    json_schema_2020_12_tool: ['A schema with keywords that must arrive as they are.', KEYWORDS_OF_2020_12, () => said('valid')],
    test_reconnection: ["The response's stream ends before the reply; the client fetches it by reconnecting.", NO_ARGUMENTS, closeStream],
    test_trigger_tool_change: ['Adds a tool, or takes it away again, and says that the list has changed.', NO_ARGUMENTS, toggleTool],
    test_trigger_prompt_change: ['Adds a prompt, or takes it away again, and says that the list has changed.', NO_ARGUMENTS, togglePrompt],
};
