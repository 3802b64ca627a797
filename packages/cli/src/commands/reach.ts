import { missingToolText } from '@ethosagent/policy';
import { EthosError } from '@ethosagent/types';
import { usageError } from '../cli-error.js';
import { type CommandInput, hasOption } from '../command-spec.js';
import { EXIT } from '../exit-codes.js';
import { grantLines } from '../grant-lines.js';
import type { ReachMatrix } from '../inspect/inspect-api.js';
import { type Output, safeLine } from '../output.js';
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
  const isHtml = hasOption(options, 'html');
  const isSarif = hasOption(options, 'sarif');
  if (Number(isHtml) + Number(isSarif) + Number(out.isJson) > 1) {
    throw usageError('choose one of --html, --sarif and --json');
  }
  const id = runtime.personalityId;
  const matrix = async () => {
    const { matrixOf } = await import('../inspect/reach-matrix.js');
    return matrixOf(runtime, { reach: shown, tool: find }, id);
  };
  if (isHtml) {
    const { reachHtml } = await import('../inspect/reach-html.js');
    out.line((await reachHtml(await matrix())).trimEnd());
    return EXIT.ok;
  }
  if (isSarif) {
    const { reachSarif } = await import('../inspect/reach-sarif.js');
    out.json(reachSarif(await matrix(), { home: context.home, cwd: context.io.cwd }));
    return EXIT.ok;
  }
  if (out.isJson) {
    out.json({ personality: id, tools: shown });
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
  if (name !== undefined) tellWhy(await matrix(), out);
  return EXIT.ok;
}

/**
 * For each thing that a tool may touch, shows the part of the declaration and the line of the
 * personality that allow it.
 */
function tellWhy({ rows }: ReachMatrix, out: Output): void {
  const lines = rows.flatMap(({ name, cells }) =>
    Object.values(cells).map(({ may, declared, policy }) => [
      `  ${out.color.cyan(safeLine(may === 'yes' ? name : `${may} ${name}`, 500))}`,
      safeLine([...declared, ...policy].join(', '), 2_000),
    ]),
  );
  if (lines.length === 0) return;
  out.line('why');
  out.table(lines);
}
