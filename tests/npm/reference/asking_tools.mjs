// Tools that ask the AI client something before they answer. Names, keys and schemas are fixed by the conformance suite.

import { NO_ARGUMENTS, said, strings } from './content.mjs';
import { report } from './plain_tools.mjs';
import { ask, capabilitiesOf, confirmQuestion, field, form, nameQuestion, ROOTS, saidByModel, sampling } from './questions.mjs';

const DEFAULTS = {
    type: 'object',
    properties: {
        name: { type: 'string', description: 'User name', default: 'John Doe' },
        age: { type: 'integer', description: 'User age', default: 30 },
        score: { type: 'number', description: 'User score', default: 95.5 },
        status: { type: 'string', description: 'User status', enum: ['active', 'inactive', 'pending'], default: 'active' },
        verified: { type: 'boolean', description: 'Verification status', default: true },
    },
    required: [],
};
const choices = titles => Object.entries(titles).map(([value, title]) => ({ const: value, title }));
const OPTIONS = ['option1', 'option2', 'option3'];
const ENUMS = {
    type: 'object',
    properties: {
        untitledSingle: { type: 'string', enum: OPTIONS },
        titledSingle: { type: 'string', oneOf: choices({ value1: 'First Option', value2: 'Second Option', value3: 'Third Option' }) },
        legacyEnum: { type: 'string', enum: ['opt1', 'opt2', 'opt3'], enumNames: ['Option One', 'Option Two', 'Option Three'] },
        untitledMulti: { type: 'array', items: { type: 'string', enum: OPTIONS } },
        titledMulti: { type: 'array', items: { anyOf: choices({ value1: 'First Choice', value2: 'Second Choice', value3: 'Third Choice' }) } },
    },
    required: [],
};

const elicit = (ctx, message, schema, lead) =>
    ask(ctx, { answer: form(message, schema) }, ({ answer }) => said(`${lead}: action=${answer.action}, content=${JSON.stringify(answer.content ?? {})}`));
const askName = ctx => ask(ctx, { user_name: nameQuestion }, found => said(`Hello, ${field(found.user_name, 'name')}!`));

async function askOnTheWay(_arguments, ctx) {
    if (!ctx.mcpReq.inputResponses) await report(ctx, 1, 2, 'half way');
    return askName(ctx);
}

async function askTwice(_arguments, ctx) {
    const known = ctx.mcpReq.requestState();
    const given = ctx.mcpReq.inputResponses ?? {};
    const name = known?.name ?? (given.step1 && field(given.step1, 'name'));
    if (name === undefined) return ask(ctx, { step1: nameQuestion }, undefined, { step: 1 });
    const second = { step2: form('Which colour do you like?', strings('color')) };
    return ask(ctx, second, found => said(`${name} likes ${field(found.step2, 'color')}.`), { name });
}

async function askWhatItCan(_arguments, ctx, server) {
    const capabilities = capabilitiesOf(ctx, server);
    const questions = { ...(capabilities.sampling && { sample: sampling('Say hello.') }), ...(capabilities.elicitation && { ask: nameQuestion }) };
    return ask(ctx, questions, () => said('asked'), { asked: Object.keys(questions) });
}

const three = { user_name: nameQuestion, greeting: sampling('Greet somebody.'), client_roots: ROOTS };
const modelsWord = (lead, key) => found => said(`${lead}: ${saidByModel(found[key])}`);

export const askingTools = {
    test_sampling: ["Asks the client's model.", strings('prompt'), ({ prompt }, ctx) => ask(ctx, { answer: sampling(prompt) }, modelsWord('LLM response', 'answer'))],
    test_elicitation: ['Asks the person.', strings('message'), ({ message }, ctx) => elicit(ctx, message, strings('response'), 'User response')],
    test_elicitation_sep1034_defaults: ['Asks the person with a default for each kind of value.', NO_ARGUMENTS, (_arguments, ctx) => elicit(ctx, 'Please review these values', DEFAULTS, 'Elicitation completed')],
    test_elicitation_sep1330_enums: ['Asks the person to choose, with each kind of choice.', NO_ARGUMENTS, (_arguments, ctx) => elicit(ctx, 'Please choose', ENUMS, 'Elicitation completed')],
    test_input_required_result_elicitation: ['Asks for a name.', NO_ARGUMENTS, (_arguments, ctx) => askName(ctx)],
    test_streaming_elicitation: ["Asks after it has reported progress on the response's stream.", NO_ARGUMENTS, askOnTheWay],
    test_input_required_result_sampling: ["Asks the client's model.", NO_ARGUMENTS, (_arguments, ctx) => ask(ctx, { capital_question: sampling('What is the capital of France?') }, modelsWord('The model said', 'capital_question'))],
    test_input_required_result_list_roots: ["Asks for the client's roots.", NO_ARGUMENTS, (_arguments, ctx) => ask(ctx, { client_roots: ROOTS }, found => said(`${found.client_roots.roots?.length ?? 0} roots`))],
    test_input_required_result_request_state: ['Asks, and wants its state back.', NO_ARGUMENTS, (_arguments, ctx) => ask(ctx, { confirm: confirmQuestion }, () => said('state-ok'), { waiting: true })],
    test_input_required_result_multiple_inputs: ['Asks three things at once.', NO_ARGUMENTS, (_arguments, ctx) => ask(ctx, three, () => said('All of it came.'), { three: true })],
    test_input_required_result_multi_round: ['Asks twice, one after the other.', NO_ARGUMENTS, askTwice],
    test_input_required_result_tampered_state: ['Asks with a state that nobody may change.', NO_ARGUMENTS, (_arguments, ctx) => ask(ctx, { confirm: confirmQuestion }, () => said('untouched'), { sealed: true })],
    test_input_required_result_capabilities: ['Asks only what the client said it can answer.', NO_ARGUMENTS, askWhatItCan],
};
