// The scenarios on the official TypeScript SDK's client: one connection for each line of stdin, one line of stdout with all that it observed.
//
// Usage: node tests/npm/matrix/client.mjs SCENARIOS     the file of the scenarios; for stdin see tests/conformance/matrix/python_client.py,
// which does the same on the other SDK

import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { Client, ProtocolError, SdkError, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import * as z from 'zod/v4';

const SCENARIOS = JSON.parse(readFileSync(process.argv[2]));
const HEAR_MS = 10_000; // for what a scenario says is heard, on a busy machine
const STEP_MS = 30_000;
const LEVEL = 'io.modelcontextprotocol/logLevel';
const MEMBERS = { tools: 'tools', prompts: 'prompts', resources: 'resources', templates: 'resourceTemplates' };
const LISTING = { tools: 'listTools', prompts: 'listPrompts', resources: 'listResources', templates: 'listResourceTemplates' };
const OF_TYPE = { string: 'x', integer: 1, number: 1, boolean: true, array: [] };
const CAPABILITIES = { sampling: {}, elicitation: { form: {}, url: {} }, roots: { listChanged: true } };

// What one connection sees.
class Peer {
    constructor(target, key) {
        this.target = target;
        this.key = key;
        this.isModern = target.era === 'modern';
        this.heard = [];
        this.waiting = new Set();
        this.level = null;
        this.isWatching = false;
    }

    name = original => (this.target.prefix ?? '') + original;
    uri = original => (this.target.server ? `tooltray://${this.target.server}/${quoted(original)}` : original);

    // what its server asks and tells

    note(event) {
        this.heard.push(event);
        for (const look of this.waiting) look();
    }

    hook(client) {
        client.setRequestHandler('elicitation/create', ({ params }) => {
            this.note({ asked: 'elicitation', params: asked(params) });
            if (['decline', 'cancel'].includes(params.message)) return { action: params.message };
            return params.requestedSchema ? { action: 'accept', content: filled(params.requestedSchema) } : { action: 'accept' };
        });
        client.setRequestHandler('sampling/createMessage', ({ params }) => {
            this.note({ asked: 'sampling', params: asked(params) });
            const answer = { type: 'text', text: params.messages[0].content.text.toUpperCase() };
            return { role: 'assistant', content: answer, model: 'none', stopReason: 'endTurn' };
        });
        client.setRequestHandler('roots/list', () => {
            this.note({ asked: 'roots' });
            return { roots: [{ uri: 'file:///projects/one', name: 'project' }] };
        });
        client.setNotificationHandler('notifications/message', ({ params }) => this.note({ log: params.level, logger: params.logger ?? null, data: params.data }));
        for (const kind of ['tools', 'prompts', 'resources'])
            client.setNotificationHandler(`notifications/${kind}/list_changed`, () => this.isWatching && this.note({ changed: kind }));
        client.setNotificationHandler('notifications/resources/updated', ({ params }) => this.isWatching && this.note({ updated: params.uri }));
    }

    progress = ({ progress, total, message }) => this.note({ progress, total, message });

    // Waits, bounded, until so many were heard; what is missing is seen by the comparison.
    async hear(count) {
        await new Promise(resolve => {
            const look = () => {
                if (this.heard.length < count) return;
                done();
            };
            const done = () => (clearTimeout(late), this.waiting.delete(look), resolve());
            const late = setTimeout(done, HEAR_MS);
            this.waiting.add(look);
            look();
        });
    }

    // steps

    async do(step) {
        const already = this.heard.length;
        let late;
        const tooLate = new Promise((_, reject) => (late = setTimeout(() => reject(new Error('too late')), STEP_MS)));
        try {
            const outcome = await Promise.race([this.step(step), tooLate]);
            await this.hear(already + (step.hears ?? 0));
            return outcome ?? null;
        } catch (error) {
            return failed(error);
        } finally {
            clearTimeout(late);
        }
    }

    async step(step) {
        const { client } = this;
        const given = Object.fromEntries(Object.entries(step.arguments ?? {}).map(([name, value]) => [name, value === '$key' ? this.key : value]));
        if (step.about) return this.about();
        if (step.list) return this.list(step.list, step.cursor);
        if (step.listed) return this.listed(step);
        if (step.call) return this.call(step.call, given, step.meta);
        if (step.cancel) return this.cancel(step.cancel);
        if (step.get) return client.getPrompt({ name: this.name(step.get), arguments: given });
        if (step.read) return client.readResource({ uri: this.uri(step.read) });
        if (step.complete) return this.complete({ type: 'ref/prompt', name: this.name(step.complete) }, step);
        if (step.completeTemplate) return this.complete({ type: 'ref/resource', uri: this.uri(step.completeTemplate) }, step);
        if (step.request) return client.request({ method: step.request }, z.looseObject({}));
        if ('level' in step) return this.setLevel(step.level);
        if (step.watch) return this.watch(step.watch.map(this.uri));
        if (step.unwatch) return this.unwatch(step.unwatch.map(this.uri));
        if (step.ping) return client.ping();
        throw new Error(`no such step: ${JSON.stringify(step)}`);
    }

    about() {
        const discovered = this.client.getDiscoverResult();
        if (discovered) return discovered;
        const { client } = this;
        return {
            protocolVersion: client.getNegotiatedProtocolVersion(),
            capabilities: client.getServerCapabilities(),
            serverInfo: client.getServerVersion(),
            instructions: client.getInstructions(),
        };
    }

    // The SDK walks all pages by itself; a page that is asked for comes alone.
    async list(kind, cursor) {
        const { [MEMBERS[kind]]: items, nextCursor, ...rest } = await this.client[LISTING[kind]](cursor === undefined ? undefined : { cursor });
        return { items, rest };
    }

    async listed({ listed: kind, name, is }) {
        for (;;) {
            const already = this.heard.length;
            const { items } = await this.list(kind);
            const found = items.some(entry => entry.name === name || entry.name === this.name(name));
            if (found === is) return found;
            await this.hear(already + 1);
            if (this.heard.length === already) return found;
        }
    }

    call(name, given, meta, options = {}) {
        const level = this.level && this.isModern ? { [LEVEL]: this.level } : {};
        const params = { name: this.name(name), arguments: given, _meta: { ...meta, ...level } };
        return this.client.callTool(params, { onprogress: this.progress, ...options });
    }

    async cancel(name) {
        const already = this.heard.length;
        const controller = new AbortController();
        const call = this.call(name, { key: this.key }, {}, { signal: controller.signal });
        const ended = call.then(result => JSON.stringify(result), () => 'cancelled');
        await this.hear(already + 1);
        controller.abort('cancelled');
        return ended;
    }

    complete(ref, { argument: [name, value], context }) {
        return this.client.complete({ ref, argument: { name, value }, ...(context && { context: { arguments: context } }) });
    }

    async setLevel(level) {
        this.level = level;
        if (!this.isModern) await this.client.setLoggingLevel(level ?? 'debug');
    }

    async watch(uris) {
        this.isWatching = true;
        if (this.isModern) {
            const lists = uris.length ? {} : { toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true };
            this.subscription = await this.client.listen({ ...lists, ...(uris.length && { resourceSubscriptions: uris }) });
        } else for (const uri of uris) await this.client.subscribeResource({ uri });
    }

    async unwatch(uris) {
        if (this.isModern) await this.subscription.close();
        else for (const uri of uris) await this.client.unsubscribeResource({ uri });
    }

    // all of it

    async run() {
        const mode = this.isModern ? 'auto' : 'legacy';
        this.client = new Client({ name: 'peer', version: '1' }, { capabilities: CAPABILITIES, versionNegotiation: { mode }, defaultCacheTtlMs: 0 });
        this.hook(this.client);
        const transport = this.transport();
        await this.client.connect(transport);
        const observed = {};
        try {
            for (const scenario of SCENARIOS) if ((scenario.era ?? this.target.era) === this.target.era) observed[scenario.name] = await this.observe(scenario);
        } finally {
            await transport.terminateSession?.();
            await this.client.close();
        }
        return observed;
    }

    async observe(scenario) {
        this.heard = [];
        const outcomes = [];
        for (const step of scenario.steps) outcomes.push(await this.do(step));
        this.isWatching = false;
        return { outcomes, heard: this.heard };
    }

    transport() {
        if (this.target.url) return new StreamableHTTPClientTransport(new URL(this.target.url));
        const [command, ...args] = this.target.command;
        return new StdioClientTransport({ command, args, env: process.env, stderr: 'inherit' });
    }
}

const BODY = /^Error POSTing to endpoint: (\{"jsonrpc".*\})$/s;
const quoted = uri => encodeURIComponent(uri).replaceAll('%7B', '{').replaceAll('%7D', '}');
const asked = params => Object.fromEntries(Object.entries(params).filter(([key]) => key !== '_meta'));

const inWords = ({ code, message, data }) => ({ error: { code, message, data: data ?? null } });

function failed(error) {
    if (error instanceof ProtocolError) return inWords(error);
    const refusal = BODY.exec(error.message); // over HTTP in the modern era an error has a status of its own
    if (refusal) return inWords(JSON.parse(refusal[1]).error);
    return { failed: error instanceof SdkError ? `${error.code}: ${error.message}` : String(error) };
}

// An accepted form: each field's default, its first choice, or something of its type.
function filled(schema) {
    const valueOf = field => field.default ?? field.enum?.[0] ?? field.oneOf?.[0].const ?? OF_TYPE[field.type];
    return Object.fromEntries(Object.entries(schema.properties ?? {}).map(([name, field]) => [name, valueOf(field)]));
}

let count = 0;
for await (const line of createInterface({ input: process.stdin })) {
    count += 1;
    const found = await new Peer(JSON.parse(line), `typescript-${process.pid}-${count}`).run().catch(error => ({ failed: error.stack }));
    console.log(JSON.stringify(found));
}
