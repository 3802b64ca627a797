import { untrustedAttacks } from '@ethosagent/conformance/attacks';
import { markUntrusted } from '../results/mark-untrusted.js';

untrustedAttacks('markUntrusted', markUntrusted);
