import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isLongRun } from '@ethosagent/test-support';
import { describe, expect, it, onTestFinished } from 'vitest';
import { chromiumFlags } from './chromium-flags.js';
import { chromiumPath } from './fixtures/chromium.js';

/** A page that asks for peers on the local network, in its own window and in a frame. */
const PAGE = `<p>page</p><script>
const ask = async (name) => {
  const peer = new RTCPeerConnection({ iceServers: [{ urls: 'stun:printer.local:3478' }, { urls: 'stun:10.9.9.2:3478' }] });
  peer.createDataChannel('x');
  await peer.setLocalDescription(await peer.createOffer());
  const sdp = peer.localDescription.sdp.replace('a=setup:actpass', 'a=setup:active');
  await peer.setRemoteDescription({ type: 'answer', sdp });
  for (const host of [name + '.local', name + '.LOCAL.', '10.9.9.2', '224.0.0.251', '10.9.9.255'])
    await peer.addIceCandidate({ candidate: 'candidate:3 1 udp 2113937151 ' + host + ' 5000 typ host', sdpMid: '0', sdpMLineIndex: 0 }).catch(() => {});
};
for (let n = 0; n < 3; n++) ask('name' + n);
fetch('http://printer.local/', { mode: 'no-cors' }).catch(() => {});
fetch('http://10.9.9.2/', { mode: 'no-cors' }).catch(() => {});
</script>`;

/** A network of its own, with a link that a counter stands at the end of. */
const SETUP = `
ip link set lo up
ip link add v0 type veth peer name v1
ip addr add 10.9.9.1/24 dev v0
ip link set v0 addrgenmode none
ip link set v1 addrgenmode none
ip link set v0 up
ip link set v1 up
ip neigh add 10.9.9.2 lladdr 02:00:00:00:00:02 dev v0
ip route add default via 10.9.9.2 dev v0
`;
const COUNT = `ip -s link show v1 | awk '/RX:/ { getline; print $2 }'`;
const NAMESPACE = ['--net', '--pid', '--mount-proc', '--fork', '--kill-child'];

const canIsolate =
  chromiumPath !== undefined &&
  process.getuid?.() === 0 &&
  spawnSync('unshare', [...NAMESPACE, 'sh', '-ec', `${SETUP}\n${COUNT}`]).status === 0;
if (!canIsolate) {
  console.log('Left out: what leaves for the local network is seen by root, with unshare and ip.');
}

/** Packets that leave while Chromium shows the page. */
async function packets(flags: readonly string[]): Promise<number> {
  const dir = mkdtempSync(join(tmpdir(), 'tools-browser-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  writeFileSync(join(dir, 'page.html'), PAGE);
  // The pipe belongs to the tools; here, the page is named on the command line.
  const own = flags.filter((flag) => !/--remote-debugging|--no-startup-window/.test(flag));
  const script = `${SETUP}
    timeout 6 "$@" >/dev/null 2>&1 </dev/null || true
    ${COUNT}`;
  const child = spawn(
    'unshare',
    [
      ...[...NAMESPACE, 'sh', '-ec', script, 'sh', chromiumPath ?? '', ...own],
      ...['--no-sandbox', `--user-data-dir=${dir}`, `file://${join(dir, 'page.html')}`],
    ],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  let text = '';
  child.stdout.on('data', (chunk) => {
    text += chunk;
  });
  await new Promise((resolve) => child.on('close', resolve));
  return Number(text.trim() || Number.NaN);
}

// What leaves depends on the flags alone, which `chromium-flags` has; the long run counts packets.
describe.skipIf(!canIsolate || !isLongRun())('what leaves for the local network', () => {
  it('is seen here: with the flags that were too few, names are asked for', async () => {
    const few = chromiumFlags('http://127.0.0.1:9').filter(
      (flag) => !/^--(host-resolver-rules|disable-features)/.test(flag),
    );
    expect(await packets(few)).toBeGreaterThan(0);
  });

  it('is nothing', async () => {
    expect(await packets(chromiumFlags('http://127.0.0.1:9'))).toBe(0);
  });
});
