import { describe } from 'vitest';

// What Mastra tells its makers of its use. Its modules read it when they are loaded.
process.env.MASTRA_TELEMETRY_DISABLED = '1';
const { contract } = await import('./fixtures/contract.js');
const { foreignContract } = await import('./fixtures/foreign-contract.js');

describe('mastraTools in agents and workflows of Mastra', contract);
describe('fromMastraTool', foreignContract);
