import { registryAttacks } from '@ethosagent/conformance';
import { DefaultToolRegistry } from '../tool-registry.js';

registryAttacks('DefaultToolRegistry', (backends) => new DefaultToolRegistry(backends));
