import { sessionConformance } from '@ethosagent/conformance';
import { createInMemorySessionStore } from './in-memory-sessions.js';

sessionConformance('createInMemorySessionStore', (options) => ({
  sessions: createInMemorySessionStore(options),
}));
