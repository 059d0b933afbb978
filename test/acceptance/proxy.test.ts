import * as fs from 'node:fs';
import { createServer } from 'node:https';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import type { SyncReport } from '../../src/app/sync.ts';
import { certify, hasOpenssl } from '../support/certificate.ts';
import { freePort, type Loopback, tcpServer } from '../support/loopback.ts';
import { makeTree, serveTree } from '../support/own-cdn.ts';
import { type ProxyServer, proxyServer } from '../support/proxy-server.ts';
import { type Run, startPakrat } from '../support/run-pakrat.ts';
import { scratchFolder } from '../support/scratch.ts';
import type { ServedTree } from '../support/served-cdn.ts';
import { withPakrat } from '../support/with-pakrat.ts';

/* Behind a proxy: the hosts have names that only the proxy knows. */

jest.setTimeout(60_000);
const scratch = scratchFolder();
const login = 'me:a%20secret';
let port: number;
let tree: ServedTree;
let proxy: ProxyServer;

beforeAll(async () => {
  port = await freePort();
  makeTree(scratch('cdn'), port, ['--files', '60', '--total-bytes', '2M', '--archives', '3', '--loose-meta', '1']);
  tree = await serveTree(scratch('cdn'), [], port);
  proxy = await proxyServer('me:a secret');
});
afterAll(() => Promise.all([tree?.close(), proxy?.close()]));

/** Runs a command about the build on hosts of a domain. */
function run(
  command: string,
  store: string,
  env: Record<string, string>,
  at = `http://cdn.invalid:${port}`,
): Promise<Run> {
  const args = ['--store', scratch(store), '--patch-url', at, '--cdn-host', at];
  return startPakrat([...command.split(' '), ...args], { env }).ended;
}

/** Syncs the build, and sees to it that all of it came and is right. */
async function syncWhole(store: string, env: Record<string, string>, at?: string): Promise<SyncReport> {
  const { status, stdout } = await run('sync wow --json', store, env, at);
  expect(status).toBe(0);
  const report = JSON.parse(stdout) as SyncReport;
  expect(report.missing.entries).toBe(0);
  const verified = await withPakrat({ store: scratch(store), offline: true }, (pakrat) => pakrat.verify());
  expect(verified).toMatchObject({ bad: [] });
  expect(verified.checked.entries).toBeGreaterThan(report.wanted.entries);
  return report;
}

test('all that is asked for by http is asked of it, as a whole URL', async () => {
  proxy.asked.length = 0;
  const { fetched } = await syncWhole('http', { http_proxy: `http://${login}@${proxy.host}` });
  expect(proxy.asked.length).toBeGreaterThanOrEqual(fetched.requests);
  for (const url of proxy.asked) expect(url).toContain(`http://cdn.invalid:${port}/`);
});

test('the library has it from its settings, and from no environment', async () => {
  const at = `http://cdn.invalid:${port}`;
  const options = { store: scratch('library'), patchUrl: [at], cdnHost: [at] };
  const httpProxy = `http://${login}@${proxy.host}`;
  process.env.http_proxy = httpProxy;
  try {
    const deaf = withPakrat(options, (pakrat) => pakrat.versions('wow'));
    await expect(deaf).rejects.toMatchObject({ code: 'E_NETWORK_EXHAUSTED' });
  } finally {
    delete process.env.http_proxy;
  }
  const settings = { network: { httpProxy } };
  const { rows } = await withPakrat({ ...options, settings }, (pakrat) => pakrat.versions('wow'));
  expect(rows.length).toBeGreaterThan(0);
});

(hasOpenssl ? test : test.skip)(
  'what is asked for by https goes through tunnels, and nobody between sees it',
  async () => {
    const { certificate, key } = certify(scratch('certificate'), 'DNS:cdn.invalid');
    const server = createServer(
      { cert: fs.readFileSync(certificate), key: fs.readFileSync(key) },
      (request, response) => {
        fetch(`${tree.url}${request.url}`, { headers: request.headers as Record<string, string> }).then(
          async (answer) => {
            const body = Buffer.from(await answer.arrayBuffer());
            response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(body);
          },
        );
      },
    );
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port: secure } = server.address() as { port: number };
    try {
      proxy.asked.length = 0;
      const env = { https_proxy: `${login}@${proxy.host}`, NODE_EXTRA_CA_CERTS: certificate };
      const at = `https://cdn.invalid:${secure}`;
      await syncWhole('https', env, at);
      expect(new Set(proxy.asked)).toEqual(new Set([`CONNECT cdn.invalid:${secure}`]));
      // A certificate that is not that of the host is refused, as without a proxy.
      const wrong = await run('ls wow', 'wrong', env, `https://other.invalid:${secure}`);
      expect(wrong).toMatchObject({ status: 1, stderr: expect.stringContaining('no secure connection') });
    } finally {
      server.close();
      server.closeAllConnections();
    }
  },
);

test('hosts that no_proxy names, and this machine, are asked themselves', async () => {
  proxy.asked.length = 0;
  const http_proxy = `http://${login}@${proxy.host}`;
  const no_proxy = 'example.org, .invalid';
  const other = `http://cdn.test:${port}`;
  expect(await run('versions wow', 'other', { http_proxy, no_proxy }, other)).toMatchObject({ status: 0 });
  expect(proxy.asked.splice(0)).toEqual([expect.stringContaining(`${other}/`)]);
  const exempt = await run('ls wow', 'exempt', { http_proxy, no_proxy });
  expect(exempt).toMatchObject({ status: 1, stderr: expect.stringMatching(/cdn\.invalid/) });
  expect(await run('ls wow', 'own', { http_proxy }, tree.url)).toMatchObject({ status: 0 });
  expect(proxy.asked).toEqual([]);
});

describe('a proxy that does not do it', () => {
  test.each([
    [
      'is not there',
      async () => `http://${login}@127.0.0.1:${await freePort()}`,
      1,
      /through the proxy http:\/\/127.*REFUSED/,
    ],
    ['does not know who asks', async () => `http://me:secret@${proxy.host}`, 1, /407/],
    ['speaks another protocol', async () => `socks5://me:secret@${proxy.host}`, 2, /no http:\/\/ URL/],
  ])('%s: that is told, and its password is not', async (_, at, status, said) => {
    for (const name of ['http', 'https']) {
      const env = { [`${name}_proxy`]: await at() };
      const ran = await run('sync wow', `refused-${status}`, env, `${name}://cdn.invalid:${port}`);
      expect(ran).toMatchObject({ status, stderr: expect.stringMatching(said) });
      expect(ran.stderr).not.toContain('secret');
    }
  });

  test('says nothing: Ctrl-C ends the command', async () => {
    let asked = (): void => {};
    const mute: Loopback = await tcpServer(() => asked());
    try {
      for (const name of ['http', 'https']) {
        const at = `${name}://cdn.invalid:${port}`;
        const args = ['sync', 'wow', '--store', scratch('mute'), '--patch-url', at, '--cdn-host', at];
        const isAsked = new Promise<void>((resolve) => {
          asked = resolve;
        });
        const { child, ended } = startPakrat(args, { env: { [`${name}_proxy`]: mute.host } });
        await isAsked;
        const from = performance.now();
        child.kill('SIGINT');
        expect((await ended).status).toBe(130);
        expect(performance.now() - from).toBeLessThan(2000);
      }
    } finally {
      await mute.close();
    }
  });
});
