import { secretAttacks } from '@ethosagent/conformance/attacks';
import { DefaultToolRegistry } from '../tool-registry.js';

secretAttacks('ctx.secretsResolver', (backends) => new DefaultToolRegistry(backends));
