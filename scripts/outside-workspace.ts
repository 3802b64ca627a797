/** The `pnpm-workspace.yaml` of a project outside, which gets the packed packages and no others. */
export function outsideWorkspace(
  tarballs: ReadonlyMap<string, string>,
  { autoInstallPeers }: { autoInstallPeers: boolean },
): string {
  return [
    'packages: []',
    `autoInstallPeers: ${autoInstallPeers}`,
    'allowBuilds:',
    '  better-sqlite3: true',
    // This package needs no build: it has prebuilt binaries, and works without them.
    '  msgpackr-extract: false',
    'overrides:',
    ...[...tarballs].map(([name, file]) => `  '${name}': 'file:${file}'`),
    '',
  ].join('\n');
}
