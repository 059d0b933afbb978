import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { freePort, httpServer, type Loopback, tcpServer } from '../support/loopback.ts';
import { syntheticCdn } from '../support/own-cdn.ts';
import { type Run, runPakrat, runShell, startPakrat } from '../support/run-pakrat.ts';
import { scratchFolder } from '../support/scratch.ts';
import type { SyntheticCdn } from '../support/served-cdn.ts';
import { withPakrat } from '../support/with-pakrat.ts';

const scratch = scratchFolder();

describe('versions, against a CDN', () => {
  let cdn: SyntheticCdn;
  let store: string;
  let configs: { build: { a: string; b: string } };
  beforeAll(async () => {
    cdn = await syntheticCdn({ make: ['--files', '20', '--total-bytes', '100K'] });
    configs = cdn.summary.configs as typeof configs;
    store = scratch('store');
  });
  afterAll(() => cdn.close());

  const versions = (...args: string[]): Run => runPakrat(['versions', ...args, '--store', store]);

  test('shows the live build, once for all regions that share it', () => {
    const { status, stdout, stderr } = versions('wow', '--patch-url', cdn.url);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toContain(`versions of wow, seqn 61100, from ${cdn.url}\n`);
    expect(stdout).toMatch(/^Region +us eu cn kr tw sg xx$/m);
    expect(stdout).toMatch(new RegExp(`^BuildConfig +${configs.build.b}$`, 'm'));
    expect(stdout).toMatch(/^VersionsName +11\.2\.0\.60100$/m);
  });

  test('--json gives product, seqn and every row by column name', () => {
    const { status, stdout } = versions('wow_old', '--patch-url', cdn.url, '--json');
    const answer = JSON.parse(stdout) as { product: string; seqn: number; rows: Record<string, string>[] };
    expect(status).toBe(0);
    expect(answer).toMatchObject({ product: 'wow_old', seqn: 61_000 });
    expect(answer.rows).toHaveLength(7);
    expect(answer.rows[1]).toMatchObject({ Region: 'eu', BuildConfig: configs.build.a, BuildId: '60000' });
  });

  test('Ribbit gives the same', async () => {
    const ask = (patchUrl: string) => withPakrat({ store, patchUrl }, (pakrat) => pakrat.versions('wow'));
    expect(await ask(cdn.ribbitUrl)).toEqual(await ask(`${cdn.url}/v2/products`));
  });

  test('PAKRAT_PATCH_URL and PAKRAT_STORE stand for the flags', () => {
    const env = { PAKRAT_PATCH_URL: cdn.url, PAKRAT_STORE: scratch('by-env') };
    expect(runPakrat(['versions', 'wow'], { env }).status).toBe(0);
    expect(
      runPakrat(['versions', 'wow', '--offline', '--json'], { env: { PAKRAT_STORE: scratch('by-env') } }).status,
    ).toBe(0);
  });

  test('--offline shows what was last said, and when', async () => {
    await withPakrat({ store, patchUrl: cdn.url }, (pakrat) => pakrat.versions('wow'));
    const { status, stdout } = versions('wow', '--offline');
    expect(status).toBe(0);
    expect(stdout).toMatch(/seqn 61100, from .*, as it was at \d{4}-/);
    expect(stdout).toContain(configs.build.b);
    const never = versions('wow_beta', '--offline', '--json');
    expect(never.status).toBe(1);
    expect(JSON.parse(never.stdout)).toMatchObject({ error: { code: 'E_OFFLINE', data: { product: 'wow_beta' } } });
  });

  test('a product that no one knows: exit 4, each service with what it said, and what to do', () => {
    const { status, stdout, stderr } = versions('wwo', '--patch-url', cdn.url, '--patch-url', cdn.ribbitUrl);
    expect({ status, stdout }).toEqual({ status: 4, stdout: '' });
    expect(stderr).toContain(`  ${cdn.url}: HTTP status 404\n`);
    expect(stderr).toContain('Code: E_NOT_FOUND\nTry this: Check the spelling');
  });

  test('a reader that goes away is no error', () => {
    const { status, stderr } = runShell(`{ pakrat versions wow --offline --store ${store}; echo $? >&2; } | true`);
    expect({ status, stderr: stderr.trim() }).toEqual({ status: 0, stderr: '0' });
  });
});

describe('versions, with nobody there', () => {
  const store = scratch('lonely');

  test('exit 1, and the same for scripts on stdout', async () => {
    const url = `http://127.0.0.1:${await freePort()}`;
    const { status, stdout, stderr } = runPakrat(['versions', 'wow', '--patch-url', url, '--store', store, '--json']);
    expect({ status, stderr }).toEqual({ status: 1, stderr: '' });
    expect(JSON.parse(stdout)).toEqual({
      error: {
        code: 'E_NETWORK_EXHAUSTED',
        message: expect.stringContaining('ECONNREFUSED'),
        hint: expect.stringContaining('--offline'),
        data: { product: 'wow', endpoint: 'versions', services: [`${url} E_NETWORK`] },
      },
    });
  });

  test.each([
    [['versions'], 'versions needs PRODUCT'],
    [['versions', 'wow', '--nonsense'], 'versions has no flag --nonsense'],
    [['versions', 'wow', '--region', 'zz'], 'there is no region'],
  ])('%j is a usage error: exit 2', (args, message) => {
    const json = runPakrat([...args, '--store', store, '--json']);
    expect(json).toMatchObject({ status: 2, stderr: '' });
    expect(JSON.parse(json.stdout)).toMatchObject({
      error: { code: 'E_USAGE', message: expect.stringContaining(message) },
    });
  });

  test.each([
    ['wow', { locale: 'xxXX' }, 'there is no locale'],
    ['wow', { patchUrl: 'us.patch.battle.net' }, 'is not the URL'],
    ['../wow', { patchUrl: 'http://127.0.0.1:1' }, 'cannot be the name of a product'],
  ])('%j with %j is one, too', async (product, session, message) => {
    const work = withPakrat({ store, ...session }, (pakrat) => pakrat.versions(product));
    await expect(work).rejects.toMatchObject({ code: 'E_USAGE', message: expect.stringContaining(message) });
  });

  test('a usage error for people: nothing on stdout, how to write it on stderr', () => {
    const { status, stdout, stderr } = runPakrat(['versions', '--nonsense']);
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr).toContain('Code: E_USAGE\nTry this: "pakrat versions --help" shows those that it has.\n');
  });

  test('bad settings are a usage error too', () => {
    const { status, stderr } = runPakrat(['versions', 'wow', '--store', store], {
      env: { PAKRAT_CONFIG: '/no/such.json' },
    });
    expect({ status, stderr }).toMatchObject({ status: 2, stderr: expect.stringContaining('/no/such.json') });
  });

  test('what comes on stdin is no argument', () => {
    expect(runPakrat(['versions', '--store', store], { input: 'wow\n' }).status).toBe(2);
  });
});

describe('Ctrl-C', () => {
  let silent: Loopback;
  let onAsk: () => void = () => {};
  beforeAll(async () => {
    silent = await tcpServer((socket) => socket.on('data', () => onAsk()));
  });
  afterAll(() => silent.close());

  test.each(['SIGINT', 'SIGTERM'] as const)('%s while a service is silent: exit 130 at once', async (signal) => {
    const { child, ended } = startPakrat([
      'versions',
      'wow',
      '--patch-url',
      `http://${silent.host}`,
      '--store',
      scratch('stopped'),
    ]);
    await new Promise<void>((asked) => {
      onAsk = asked;
    });
    const at = performance.now();
    child.kill(signal);
    expect(await ended).toMatchObject({ status: 130, stderr: expect.stringContaining('E_ABORTED') });
    expect(performance.now() - at).toBeLessThan(4000);
  });
});

test('a stale edge is taken when it is alone, and said on stderr', async () => {
  let seqn = 20;
  const server = await httpServer((_, response) => {
    response.end(`Region!STRING:0|BuildId!DEC:4\n## seqn = ${seqn}\nus|1\n`);
  });
  try {
    const ask = (...more: string[]) =>
      startPakrat([
        'versions',
        'wow',
        '--json',
        '--patch-url',
        `http://${server.host}`,
        '--store',
        scratch('edge'),
        ...more,
      ]).ended;
    const session = { store: scratch('edge'), patchUrl: `http://${server.host}` };
    await withPakrat(session, (pakrat) => pakrat.versions('wow'));
    seqn = 19;
    const { status, stdout, stderr } = await ask();
    expect({ status, seqn: (JSON.parse(stdout) as { seqn: number }).seqn }).toEqual({ status: 0, seqn: 19 });
    expect(stderr).toMatch(/seqn 19, older than 20/);
    expect((await ask('--quiet')).stderr).toBe('');
  } finally {
    await server.close();
  }
});
