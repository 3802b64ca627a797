import { memoryConformance } from '@ethosagent/conformance';
import { createInMemoryMemory } from './in-memory-memory.js';

memoryConformance('createInMemoryMemory', (options) => ({ memory: createInMemoryMemory(options) }));
