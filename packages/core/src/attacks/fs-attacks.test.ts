import { fsAttacks } from '@ethosagent/conformance/attacks';
import { DefaultToolRegistry } from '../tool-registry.js';

fsAttacks('DefaultToolRegistry', (backends) => new DefaultToolRegistry(backends));
