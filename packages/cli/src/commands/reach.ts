import { missingToolText } from '@ethosagent/policy';
import { EthosError } from '@ethosagent/types';
import { EXIT } from '../cli-error.js';
import { type CommandInput, hasOption } from '../command-spec.js';
import { grantLines } from '../grant-lines.js';
import { safeLine } from '../output.js';
import { PinnedServers, reachWithServers } from '../pinned-servers.js';

/** Shows what each tool may touch under a personality. */
export async function run({ context, args: [name], options }: CommandInput): Promise<number> {
  const { out } = context;
  const runtime = await context.openRuntime();
  const { reach: all, tool: find } = await reachWithServers(
    runtime,
    new PinnedServers(context),
    runtime.personalityId,
  );
  if (name !== undefined && !all.some(({ tool }) => tool === name)) {
    throw new EthosError(
      'TOOL_NOT_FOUND',
      missingToolText(
        name,
        all.map(({ tool }) => tool),
      ),
    );
  }
  const shown = all.filter(({ tool, offered }) =>
    name === undefined ? offered || hasOption(options, 'all') : tool === name,
  );
  if (hasOption(options, 'html')) {
    const [{ matrixOf }, { reachHtml }] = await Promise.all([
      import('../inspect/reach-matrix.js'),
      import('../inspect/reach-html.js'),
    ]);
    out.line(
      (
        await reachHtml(
          await matrixOf(runtime, { reach: shown, tool: find }, runtime.personalityId),
        )
      ).trimEnd(),
    );
    return EXIT.ok;
  }
  if (out.isJson) {
    out.json({ personality: runtime.personalityId, tools: shown });
    return EXIT.ok;
  }
  for (const { tool, offered, grant, unconfined } of shown) {
    out.line(`${out.color.bold(safeLine(tool))}${offered ? '' : out.color.dim(' (not offered)')}`);
    if (unconfined === true) {
      out.line(
        `  ${out.color.red('unconfined')}: it keeps its own authority, and nothing bounds it`,
      );
    }
    const lines = grantLines(grant);
    if (lines.length === 0 && unconfined !== true) out.line(`  ${out.color.dim('nothing')}`);
    out.table(lines.map(([what, which]) => [`  ${out.color.cyan(what)}`, safeLine(which, 2_000)]));
  }
  return EXIT.ok;
}
