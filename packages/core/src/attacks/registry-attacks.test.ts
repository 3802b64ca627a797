import { registryAttacks } from '@ethosagent/conformance/attacks';
import { DefaultToolRegistry } from '../tool-registry.js';

registryAttacks('DefaultToolRegistry', (backends) => new DefaultToolRegistry(backends));
