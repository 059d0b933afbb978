import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, jest, test } from '@jest/globals';
import { publishedUpstream } from '../serve/pull/upstream.ts';
import { peakMiB } from '../support/child.ts';
import { pullRounds } from '../support/pull-rounds.ts';
import { scratchFolder } from '../support/scratch.ts';

const scratch = scratchFolder();
const seconds = Number(process.env.PAKRAT_PULL_SECONDS ?? 60);
jest.setTimeout((seconds + 120) * 1000);

test('200 clients with random ranges over a slow, failing, lying CDN', async () => {
  const sizes = Array.from({ length: 600 }, (_, i) => 1_000 + ((i * 7919) % 97) ** 2 * 30);
  const upstream = await publishedUpstream(scratch('cdn'), sizes);
  const args = ['bin/run.js', 'serve', '--pull-through', '--store', scratch('store'), '--port', '0', '--json'];
  const child = spawn(process.execPath, [...args, '--patch-url', upstream.base], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    const [line] = (await once(child.stdout, 'data')) as [Buffer];
    const { url } = JSON.parse(String(line).split('\n')[0]!) as { url: string };
    expect((await fetch(`${url}/game/versions`)).status).toBe(200);
    const outcome = await pullRounds(url, upstream, { clients: 200, seconds, lies: 0.15, seed: 3 });
    const peak = peakMiB(child.pid);
    console.log(JSON.stringify({ ...outcome, share: outcome.cameRight / outcome.touched, peakMiB: peak }));
    expect(outcome.wrongBytes).toBe(0);
    expect(outcome.cameRight).toBeLessThanOrEqual(1.02 * outcome.touched);
    expect(peak).toBeLessThan(300);
  } finally {
    child.kill('SIGTERM');
    await once(child, 'exit');
    await upstream.close();
  }
});
