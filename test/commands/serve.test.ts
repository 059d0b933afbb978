import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { beforeAll, expect, jest, test } from '@jest/globals';
import { Session } from '../../src/app/session/session.ts';
import { runPakrat, startPakrat } from '../support/run-pakrat.ts';
import { scratchFolder } from '../support/scratch.ts';

jest.setTimeout(60_000);
const scratch = scratchFolder();
const store = scratch('store');

beforeAll(async () => {
  const session = new Session({ store, offline: true });
  const { ledger } = await session.store({ create: true });
  const keys = { buildConfig: '1'.repeat(32), cdnConfig: '2'.repeat(32), productConfig: null, keyRing: null };
  const names = { product: 'game', name: '1.0.1', buildId: '1', region: 'us' };
  ledger.addBuild({ ...names, ...keys, cdnPath: 'tpr/game', configPath: 'tpr/configs', hosts: [] });
  await session.close();
});

/** A server of the built program that listens. */
async function serve(...args: string[]): Promise<ReturnType<typeof startPakrat> & { event: Record<string, string> }> {
  const started = startPakrat(['serve', '--json', '--port', '0', '--store', store, ...args]);
  const line = await new Promise<string>((resolve) => {
    started.child.stdout?.once('data', (piece) => resolve(String(piece)));
    started.ended.then(({ stderr, stdout }) => resolve(stdout || stderr));
  });
  return { ...started, event: JSON.parse(line.split('\n')[0] ?? '') };
}

test.each(['SIGTERM', 'SIGINT'] as const)(
  '%s ends it with 0 within two seconds, whoever is connected',
  async (signal) => {
    const log = scratch(`${signal}.log`);
    const { child, ended, event } = await serve('--ribbit', '0', '--access-log', log);
    expect((await fetch(`${event.url}/game/versions`)).status).toBe(200);
    const idle = connect(Number(new URL(event.url ?? '').port), '127.0.0.1');
    await new Promise((resolve) => void idle.once('connect', resolve));
    idle.on('error', () => {});
    const began = performance.now();
    child.kill(signal);
    const { status, stderr } = await ended;
    expect([status, stderr]).toEqual([0, '']);
    expect(performance.now() - began).toBeLessThan(2_000);
    expect(readFileSync(log, 'utf8')).toMatch(/^127\.0\.0\.1 - - \[.*\] "GET \/game\/versions HTTP\/1\.1" 200 \d+\n$/);
    idle.destroy();
  },
);

test('on all addresses it says where clients are told to come, and each is the address that cdns names', async () => {
  const { child, ended, event } = await serve('--host', '0.0.0.0', '--access-log', '-', '--log-format', 'json');
  const port = new URL(event.url ?? '').port;
  const cdns = await (await fetch(`http://127.0.0.1:${port}/game/cdns`)).text();
  expect(cdns).toContain(`|${event.public}|`);
  expect(event.public).not.toContain('0.0.0.0');
  child.kill('SIGTERM');
  const { stderr, stdout } = await ended;
  expect(stderr).toContain(`clients are told to come to ${event.public}`);
  expect(JSON.parse(stdout.split('\n')[1] ?? '')).toMatchObject({ url: '/game/cdns', status: 200 });
});

test('what cannot be served is an error of use that says what to do', async () => {
  const { child, ended, event } = await serve('--public', '[::1]:80');
  expect(event.public).toBe('[::1]:80');
  const port = new URL(event.url ?? '').port;
  for (const [args, text] of [
    [['--port', port], 'another program listens there'],
    [['--port', '0', '--ribbit', port], 'another program listens there'],
    [['--host', '192.0.2.1', '--port', '0'], 'no such address'],
    [['--port', '0', '--public', 'http://x'], 'public name'],
    [['--port', '0', '--product', 'game=2'], 'knows no build 2'],
    [['--port', '0', '--access-log', '/dev/null/x'], 'cannot write the log'],
  ] as const) {
    const { status, stderr } = runPakrat(['serve', '--store', store, ...args]);
    expect([status, stderr]).toEqual([2, expect.stringContaining(text)]);
  }
  child.kill('SIGTERM');
  expect((await ended).status).toBe(0);
});
