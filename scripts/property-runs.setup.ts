// How many inputs a property is tried with that says nothing of it.
import { tries } from '@ethosagent/test-support';
import fc from 'fast-check';

fc.configureGlobal({ ...fc.readConfigureGlobal(), numRuns: tries({ check: 20, long: 100 }) });
