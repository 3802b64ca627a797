export { type Agent, type AgentOptions, createAgent } from './create-agent.js';
