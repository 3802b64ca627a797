import { parseHostPattern } from '@ethosagent/policy';
import { z } from 'zod';
import { type PathVariables, resolveReachPath } from './substitute.js';

const text = z.string().regex(/\S/u, 'must not be empty');
const names = z.array(text);

const hosts = z.array(
  z
    .string()
    .refine(
      (pattern) => parseHostPattern(pattern) !== null,
      'not a host pattern: write a host, "*.suffix" or "*", without scheme and path',
    ),
);

const network = z.strictObject({
  allow: hosts.exactOptional(),
  deny: hosts.exactOptional(),
  allow_private_urls: z.boolean().exactOptional(),
});

const safety = z.strictObject({ network: network.exactOptional() });

/**
 * The schema of a personality's file. Parsing replaces the entries of `fs_reach` by the absolute
 * paths that they mean.
 */
export function personalitySchema(variables: PathVariables) {
  const paths = z.array(
    z.string().transform((entry, ctx) => {
      const result = resolveReachPath(entry, variables);
      if (result.ok) return result.path;
      ctx.addIssue(result.message);
      return z.NEVER;
    }),
  );
  const reach = z.strictObject({ read: paths.exactOptional(), write: paths.exactOptional() });
  return z.strictObject({
    name: text,
    description: z.string().exactOptional(),
    toolset: names.exactOptional(),
    fs_reach: reach.exactOptional(),
    safety: safety.exactOptional(),
    mcp_servers: names.exactOptional(),
    plugins: names.exactOptional(),
  });
}
