// What the reference offers: tools, resources, a template, prompts, completion; and how it says that something has changed.
// Names, URIs and texts are fixed by the conformance suite.

import { ProtocolError, ProtocolErrorCode, ResourceNotFoundError } from '@modelcontextprotocol/server';
import { askingTools } from './asking_tools.mjs';
import { embedded, image, PIXEL, strings, text } from './content.mjs';
import { LISTED, peerTools } from './peer_tools.mjs';
import { plainTools } from './plain_tools.mjs';
import { ask, field, form } from './questions.mjs';

const MORE = { nextCursor: 'second' };
const SECOND = 'test://second-page';
const PICTURE = 'test://static-binary';
const PEOPLE = ['Ada', 'Alan', 'Grace'];
const TEMPLATE = /^test:\/\/template\/([^/]+)\/data$/;
const TEXTS = {
    'test://static-text': 'This is the content of the static text resource.',
    'test://watched-resource': 'Watched resource content',
    [SECOND]: 'Found on the second page.',
};
const invalid = (message, data) => new ProtocolError(ProtocolErrorCode.InvalidParams, message, data);
const nameOf = uri => uri.replace('test://', '');
const prompt = (...content) => ({ messages: content.map(part => ({ role: 'user', content: part })) });

function isSecondPage(params) {
    if (params?.cursor === undefined) return false;
    if (params.cursor !== MORE.nextCursor) throw invalid(`no page is called ${params.cursor}`);
    return true;
}

// One for a process: what changes, changes for every client.
export class Offers {
    constructor() {
        this.tools = new Map(Object.entries({ ...askingTools, ...plainTools, ...peerTools }));
        this.prompts = new Map([
            ['test_simple_prompt', []],
            ['test_prompt_with_arguments', ['arg1', 'arg2']],
            ['test_prompt_with_embedded_resource', ['resourceUri']],
            ['test_prompt_with_image', []],
            ['test_input_required_result_prompt', []],
        ]);
        this.subscribed = new Set();
        this.notifier = undefined; // of the modern era over HTTP
    }

    listTools(params) {
        const isSecond = isSecondPage(params);
        const names = [...this.tools.keys()].filter(name => name.startsWith('peer_') === isSecond);
        const tools = names.map(name => ({ name, description: this.tools.get(name)[0], inputSchema: this.tools.get(name)[1], ...LISTED[name] }));
        return { tools, ...(isSecond ? {} : MORE) };
    }

    callTool({ name, arguments: given }, ctx, server, isModern) {
        const tool = this.tools.get(name);
        if (!tool) throw invalid(`no tool is called ${name}`);
        return tool[2](given ?? {}, ctx, server, this, isModern);
    }

    listResources(params) {
        if (isSecondPage(params)) return { resources: [{ uri: SECOND, name: nameOf(SECOND), title: 'On the second page', annotations: { priority: 0.1 } }] };
        const found = Object.keys(TEXTS).filter(uri => uri !== SECOND).map(uri => ({ uri, name: nameOf(uri), mimeType: 'text/plain' }));
        return { resources: [...found, { uri: PICTURE, name: nameOf(PICTURE), mimeType: 'image/png' }], ...MORE };
    }

    listTemplates() {
        return { resourceTemplates: [{ uriTemplate: 'test://template/{id}/data', name: 'template', mimeType: 'application/json' }] };
    }

    readResource({ uri }) {
        const match = TEMPLATE.exec(uri);
        if (uri in TEXTS) return { contents: [{ uri, mimeType: 'text/plain', text: TEXTS[uri] }] };
        if (uri === PICTURE) return { contents: [{ uri, mimeType: 'image/png', blob: PIXEL }] };
        if (!match) throw new ResourceNotFoundError(uri);
        const words = JSON.stringify({ id: match[1], templateTest: true, data: `Data for ID: ${match[1]}` });
        return { contents: [{ uri, mimeType: 'application/json', text: words }] };
    }

    listPrompts() {
        const described = ([name, names]) => ({ name, description: name.replaceAll('_', ' '), arguments: names.map(each => ({ name: each, required: true })) });
        return { prompts: [...this.prompts].map(described) };
    }

    getPrompt({ name, arguments: given = {} }, ctx) {
        if (!this.prompts.has(name)) throw invalid(`no prompt is called ${name}`);
        const missing = this.prompts.get(name).filter(each => !(each in given));
        if (missing.length) throw invalid(`missing: ${missing.join(', ')}`);
        switch (name) {
            case 'test_prompt_with_arguments':
                return prompt(text(`Prompt with arguments: arg1='${given.arg1}', arg2='${given.arg2}'`));
            case 'test_prompt_with_embedded_resource':
                return prompt(embedded(given.resourceUri, 'text/plain', 'Embedded resource content for testing.'), text('Please process the embedded resource above.'));
            case 'test_prompt_with_image':
                return prompt(image(), text('Please analyze the image above.'));
            case 'test_input_required_result_prompt':
                return ask(ctx, { user_context: form('What is it about?', strings('context')) }, found => prompt(text(`It is about ${field(found.user_context, 'context')}.`)));
        }
        return prompt(text('This is a simple prompt for testing.'));
    }

    complete({ argument, context }) {
        const already = Object.values(context?.arguments ?? {});
        const values = PEOPLE.filter(each => each.startsWith(argument.value) && !already.includes(each));
        return { completion: { values, total: values.length, hasMore: false } };
    }

    async tell(server, kind) {
        this.notifier?.[`${kind}Changed`]();
        await (kind === 'tools' ? server.sendToolListChanged() : server.sendPromptListChanged()).catch(() => {}); // a modern server over HTTP is one call's
    }

    async tellUpdate(server, uri) {
        this.notifier?.resourceUpdated(uri);
        await this.update?.(server, uri);
    }
}
