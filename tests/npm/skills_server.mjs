// A server of the TypeScript SDKs, with the skills of the folder that it is given: what others' skills look like to the hub.

import { McpServer } from "@modelcontextprotocol/server";
import { StdioServerTransport } from "@modelcontextprotocol/server/stdio";
import { discoverSkills, registerSkillResources } from "@olaservo/ext-skills/server";

const folder = process.argv[2];
const server = new McpServer({ name: "skills", version: "1" }, { capabilities: { resources: {} } });
registerSkillResources(server, discoverSkills(folder), folder, { directoryRead: true });
await server.connect(new StdioServerTransport());
