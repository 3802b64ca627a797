import { fsAttacks } from '@ethosagent/conformance';
import { DefaultToolRegistry } from '../tool-registry.js';

fsAttacks('DefaultToolRegistry', (backends) => new DefaultToolRegistry(backends));
