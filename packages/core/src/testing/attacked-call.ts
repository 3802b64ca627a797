import type { AttackedCall, CreateCall } from '@ethosagent/conformance/attacks';
import { directoryReach } from '@ethosagent/process';
import type { ProcessPolicy } from '@ethosagent/types';
import { CallScope } from '../call-scope.js';
import { ScopedProcessImpl } from '../scoped/scoped-process.js';

/** Makes calls whose processes run under a policy, for the attacks of the conformance suites. */
export function attackedCalls(policy: ProcessPolicy): CreateCall {
  return ({ read, write, deny, limits }): AttackedCall => {
    const journal = { sessionId: 's', personalityId: 'p', audit: undefined, now: Date.now };
    const scope = new CallScope(journal, { toolName: 'tool', toolCallId: 'call' });
    const files = read.length + write.length > 0;
    return {
      process: new ScopedProcessImpl(new Set(['*']), {
        policy: { ...policy, ...(limits !== undefined && { limits }) },
        reach: files ? directoryReach({ read, write }, [...read, ...write], deny) : undefined,
        scope,
      }),
      abort: () => scope.abort(new Error('the turn was aborted')),
      end: () => scope.end(),
    };
  };
}
