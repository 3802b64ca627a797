import { fuzz } from '@ethosagent/conformance/fuzz';
import { MCP_BRIDGE_TOOLS } from '@ethosagent/policy';
import { anyText } from '@ethosagent/test-support';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bridgeToolName, mcpServerPart, mcpToolName } from './names.js';

const NAME = /^[a-zA-Z0-9_-]{1,64}$/;
/** As the registry tells the server of a tool. */
const serverOf = (name: string) => /^mcp__(.+?)__.+$/s.exec(name)?.[1];

describe('mcpToolName', () => {
  it.each([
    ['memory', 'read_graph', 'mcp__memory__read_graph'],
    ['my-server', 'get-sum', 'mcp__my-server__get-sum'],
    ['a_b', '__x__', 'mcp__a_b____x__'],
    ['memory', 'constructor', 'mcp__memory__constructor'],
    ['memory', '__proto__', 'mcp__memory____proto__'],
    ['S', 'a'.repeat(56), `mcp__S__${'a'.repeat(56)}`],
  ])('leaves %s and %s as they are', (server, tool, name) => {
    expect(mcpToolName(server, tool)).toBe(name);
  });

  it.each([
    ['a dot', 's', 'files.read', /^mcp__s__files_read-x[0-9a-f]{12}$/],
    ['a slash', 's', 'repo/list', /^mcp__s__repo_list-x[0-9a-f]{12}$/],
    ['another script', 's', 'чтение', /^mcp__s__tool-x[0-9a-f]{12}$/],
    ['nothing', 's', '', /^mcp__s__tool-x[0-9a-f]{12}$/],
    ['more than 64 characters', 's', 'a'.repeat(57), /^mcp__s__a{42}-x[0-9a-f]{12}$/],
    ['the shape of a mapped name', 's', 'a-x0123456789ab', /^mcp__s__a_x\d+ab-x[0-9a-f]{12}$/],
    ['the name of a tool of the bridge', 's', 'read_resource', /^mcp__s__read_resource-x/],
    ['a server with __', 'a__b', 'c', /^mcp__a_b-x[0-9a-f]{8}__c$/],
    ['a server that ends on _', 'a_', 'c', /^mcp__a-x[0-9a-f]{8}__c$/],
    ['a server with a space', 'my server', 'c', /^mcp__my_server-x[0-9a-f]{8}__c$/],
    ['a server of __proto__', '__proto__', 'c', /^mcp__proto-x[0-9a-f]{8}__c$/],
  ])('maps %s', (_name, server, tool, mapped) => {
    expect(mcpToolName(server, tool)).toMatch(mapped);
  });

  const part = fc.oneof(
    anyText({ maxLength: 80 }),
    fc.stringMatching(/^[a-b_-]{0,6}$/),
    fc.constantFrom(...MCP_BRIDGE_TOOLS, 'constructor', 'a__b', '\ud800', '\udc00'),
  );
  fuzz(
    'gives each server and tool a name of its own, whose server the registry tells',
    fc.tuple(part, part, part, part),
    ([server, tool, otherServer, otherTool]) => {
      const name = mcpToolName(server, tool);
      expect(name).toMatch(NAME);
      expect(serverOf(name)).toBe(mcpServerPart(server));
      const same = server === otherServer && tool === otherTool;
      expect(mcpToolName(otherServer, otherTool) === name).toBe(same);
      // A mapped name given as a name is mapped again.
      if (name !== `mcp__${server}__${tool}`) {
        const again = name.slice(`mcp__${mcpServerPart(server)}__`.length);
        if (again !== tool) expect(mcpToolName(server, again)).not.toBe(name);
      }
      for (const own of MCP_BRIDGE_TOOLS) expect(name).not.toBe(bridgeToolName(server, own));
    },
  );
});
