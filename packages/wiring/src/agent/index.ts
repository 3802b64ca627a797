export type { Agent, AgentOptions } from './agent-api.js';
export { createAgent } from './create-agent.js';
