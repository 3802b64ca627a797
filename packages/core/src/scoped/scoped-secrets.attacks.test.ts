import { secretAttacks } from '@ethosagent/conformance';
import { DefaultToolRegistry } from '../tool-registry.js';

secretAttacks('ctx.secretsResolver', (backends) => new DefaultToolRegistry(backends));
