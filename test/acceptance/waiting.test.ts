import { spawn, spawnSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { freePort, httpServer, type Loopback } from '../support/loopback.ts';
import { type LyingServer, lyingServer, objectsBelow } from '../support/lying-server.ts';
import { makeTree, serveTree } from '../support/own-cdn.ts';
import { environment, programLine } from '../support/run-pakrat.ts';
import { scratchFolder } from '../support/scratch.ts';
import type { ServedTree } from '../support/served-cdn.ts';

/* Whoever waits on a terminal for a slow host sees for what, and how it comes; what was asked for is written where nothing is drawn any more. */

jest.setTimeout(60_000);
const scratch = scratchFolder();
/** Part of util-linux; others of this name are called otherwise. */
const hasScript = /util-linux/.test(spawnSync('script', ['--version'], { encoding: 'utf8' }).stdout ?? '');
if (!hasScript) console.warn('script of util-linux is not there: nothing is tested on a terminal');
const onTerminal = hasScript ? describe : describe.skip;
let tree: ServedTree;
let host: LyingServer;
let silent: Loopback;

beforeAll(async () => {
  const port = await freePort();
  makeTree(scratch('cdn'), port, ['--files', '30', '--total-bytes', '200K', '--archives', '2', '--loose-meta', '1']);
  tree = await serveTree(scratch('cdn'), [], port);
  host = await lyingServer(objectsBelow(scratch('cdn/www')));
  silent = await httpServer(() => {});
});
afterAll(async () => {
  await Promise.all([tree?.close(), host?.close(), silent?.close()]);
});

/** Takes a bar away. */
const taken = '\r\x1b[K';

/** All that a terminal is sent while a command runs on it, until that ends or `until` is sent. */
function terminal(line: string, until?: RegExp): Promise<string> {
  const command = `stty cols 100; ${programLine}\n${line}`;
  const child = spawn('script', ['-qefc', command, '/dev/null'], {
    // Where CI is set, or the terminal is dumb, nothing is drawn.
    env: environment({ TERM: 'xterm', CI: '' }),
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let sent = '';
  child.stdout.on('data', (piece) => {
    sent += String(piece);
    if (until?.test(sent) === true) child.kill();
  });
  return new Promise((resolve) => child.on('close', () => resolve(sent)));
}

onTerminal('on a terminal', () => {
  test('what comes slowly is shown as it comes, and taken away before what was asked for is written', async () => {
    host.lie = ({ path }) => (path.includes('/data/') ? { kind: 'drip', bytes: 1500, everyMs: 250 } : undefined);
    const lines = ['ls wow', 'info wow', 'keys missing wow', 'cat wow fdid:101 | wc -c'];
    const runs = lines.map(async (line, i) => {
      const use = `--store ${scratch(`store-${i}`)} --patch-url ${tree.url} --cdn-host ${host.host}`;
      const command = (more: string): string => `pakrat ${line.replace(/ \||$/, ` ${use} ${more}$&`)}`;
      const sent = await terminal(command(''));
      const plain = await terminal(command('--offline --quiet'));
      return { line, sent, plain };
    });
    for (const { line, sent, plain } of await Promise.all(runs)) {
      expect([line, sent]).toEqual([line, expect.stringMatching(/\rencoding {2}[1-9][\d.]* (B|KiB) {2}[1-9]/)]);
      expect([line, plain]).toEqual([line, expect.stringMatching(/\w/)]);
      expect([line, sent.slice(sent.lastIndexOf(taken) + taken.length)]).toEqual([line, plain]);
    }
  });

  test('the version services are asked for all to see', async () => {
    const lines = ['versions wow', 'products', 'ls wow', `extract wow --to ${scratch('out')}`];
    const use = `--store ${scratch('silent')} --patch-url http://${silent.host}`;
    const runs = lines.map((line) => terminal(`pakrat ${line} ${use}`, /version service/));
    for (const sent of await Promise.all(runs)) expect(sent).toContain('\rversion service\x1b[K');
  });
});
