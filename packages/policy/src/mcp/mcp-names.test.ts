import { describe, expect, it } from 'vitest';
import { hasMcpServer, mcpServerPart } from './mcp-names.js';

describe('hasMcpServer', () => {
  it.each([
    [['a', 'My Server'], 'My Server', true],
    [[mcpServerPart('My Server')], 'My Server', true],
    [['my server', 'My_Server'], 'My Server', false],
    [[], 'a', false],
    [undefined, 'a', true],
  ])('of %j and %s is %s', (list, server, expected) => {
    expect(hasMcpServer(list, server)).toBe(expected);
  });
});
