import { describe } from 'vitest';

// Turns off Mastra's telemetry. Its modules read the variable when they are loaded.
process.env.MASTRA_TELEMETRY_DISABLED = '1';
const { contract } = await import('./fixtures/contract.js');
const { foreignContract } = await import('./fixtures/foreign-contract.js');

describe('mastraTools in agents and workflows of Mastra', contract);
describe('fromMastraTool', foreignContract);
