import { describe, expect, it } from 'vitest';
import { mcpServerPart } from './mcp/mcp-names.js';
import { toolFilters } from './tool-filters.js';

const user = { id: 'user', name: 'User' };

describe('toolFilters', () => {
  it('adds how a server stands in the names of its tools', () => {
    expect(toolFilters({ ...user, mcp_servers: ['My Server', 'other'] })).toEqual({
      allowedMcpServers: ['My Server', 'other', mcpServerPart('My Server')],
    });
  });

  it('has no filter for what a personality does not limit', () => {
    expect(toolFilters(user)).toEqual({});
    expect(toolFilters({ ...user, mcp_servers: [], plugins: [] })).toEqual({
      allowedMcpServers: [],
      allowedPlugins: [],
    });
  });
});
