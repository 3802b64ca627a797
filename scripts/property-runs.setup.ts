// The number of inputs for a property that sets none.
import { tries } from '@ethosagent/test-support';
import fc from 'fast-check';

fc.configureGlobal({ ...fc.readConfigureGlobal(), numRuns: tries({ check: 20, long: 100 }) });
