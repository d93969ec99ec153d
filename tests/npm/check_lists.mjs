// Reads lists from standard input, one JSON object a line: {"method", "result"}. Checks each as a client on the TypeScript SDK 1.x does, its
// schemas compiled, and prints a line of JSON for each that such a client refuses.
import { createInterface } from "node:readline";
import {
    ListPromptsResultSchema,
    ListResourcesResultSchema,
    ListResourceTemplatesResultSchema,
    ListToolsResultSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { AjvJsonSchemaValidator } from "@modelcontextprotocol/sdk/validation/ajv";

const schemas = {
    "tools/list": ListToolsResultSchema,
    "prompts/list": ListPromptsResultSchema,
    "resources/list": ListResourcesResultSchema,
    "resources/templates/list": ListResourceTemplatesResultSchema,
};

console.warn = () => {}; // of formats that ajv does not know
let count = 0;
for await (const line of createInterface({ input: process.stdin, crlfDelay: Infinity })) {
    const { method, result } = JSON.parse(line);
    count += 1;
    try {
        const validator = new AjvJsonSchemaValidator();
        const parsed = schemas[method].parse(result);
        for (const tool of parsed.tools ?? []) {
            if (tool.outputSchema) validator.getValidator(tool.outputSchema);
        }
    } catch (error) {
        console.log(JSON.stringify({ line: count, error: String(error.message ?? error), result }));
    }
}
console.log(JSON.stringify({ checked: count }));
