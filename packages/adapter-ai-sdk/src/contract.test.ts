import { describe } from 'vitest';
import { contract } from './fixtures/contract.js';

describe('aiTools in the loop of ai', () => contract(6));
