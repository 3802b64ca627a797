import { untrustedAttacks } from '@ethosagent/conformance';
import { markUntrusted } from '../results/mark-untrusted.js';

untrustedAttacks('markUntrusted', markUntrusted);
