import type { AnyTool, ToolCapabilities, ToolEffect } from '@ethosagent/types';
import { expect, it } from 'vitest';
import { annotationsOf } from './annotations.js';

const R = 'read-only';
const D = 'destructive';
const O = 'open';

it.each<[name: string, Pick<AnyTool, 'capabilities' | 'effects' | 'unconfined'>, hints: string[]]>([
  ['nothing', { capabilities: {} }, [R]],
  ['reads files', of({ fs_reach: { read: 'from-personality' } }), [R]],
  ['writes files', of({ fs_reach: { write: 'from-personality' } }), [D]],
  ['fetches', of({ network: { allowedHosts: ['*'] } }), [D, O]],
  ['fetches and changes nothing', of({ network: { allowedHosts: ['*'] } }, []), [R, O]],
  ['runs a program', of({ process: { allowedBinaries: ['git'] } }), [D, O]],
  ['runs a program that only reads', of({ process: { allowedBinaries: ['rg'] } }, []), [R, O]],
  ['keeps something', of({ storage: { scope: 'session', kind: 'kv' } }), []],
  ['remembers', of({ memory: { access: 'read-write' } }), [D]],
  ['recalls', of({ memory: { access: 'read' } }), [R]],
  ['gives work to sub-agents', of({ delegation: {} }, []), [D, O]],
  ['calls other tools', of({ calls: { tools: ['x'] } }, []), [D, O]],
  ['keeps a browser', of({ service: { scope: 'session' } }, []), [R, O]],
  ['says that it writes', of({}, ['write']), [D]],
  ['says that it sends', of({}, ['send']), [D, O]],
  ['is unconfined', { capabilities: {}, effects: [], unconfined: true }, [D, O]],
])('annotationsOf a tool that %s', (_, tool, hints) => {
  expect(annotationsOf(tool)).toEqual({
    readOnlyHint: hints.includes(R),
    destructiveHint: hints.includes(D),
    idempotentHint: hints.includes(R),
    openWorldHint: hints.includes(O),
  });
});

it('annotationsOf a tool that is not known says the worst', () => {
  expect(annotationsOf(undefined)).toMatchObject({ readOnlyHint: false, destructiveHint: true });
});

function of(capabilities: ToolCapabilities, effects?: ToolEffect[]) {
  return { capabilities, ...(effects !== undefined && { effects }) };
}
