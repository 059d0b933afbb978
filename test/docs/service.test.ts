import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { publishBuild } from '../../src/publish/publish-build.ts';
import { type StaticServer, serveFolder } from '../../src/serve/static-server.ts';
import { freePort, httpServer } from '../support/loopback.ts';
import { environment, programLine, type Run, startPakrat } from '../support/run-pakrat.ts';
import { scratchFolder } from '../support/scratch.ts';

/*
 * docs/service.md and the files beside it: each is checked by its own tool where that is there, and every command line of pakrat in them is
 * run by the program, with the environment that the file gives it and a CDN of 127.0.0.1.
 */

const scratch = scratchFolder();
const folder = 'docs/service';
const read = (name: string): string => readFileSync(`${folder}/${name}`, 'utf8');
const page = readFileSync('docs/service.md', 'utf8');
const product = 'wow_classic_era';
let server: StaticServer;

beforeAll(async () => {
  const port = await freePort();
  const tags = ['Windows', 'x86_64', 'enUS'].map((name, i) => ({ name, type: i + 1 }));
  const files = ['a.txt', 'b.txt'].map((name, i) => ({ name, fileDataId: i + 1, tags, read: () => Buffer.from(name) }));
  const build = { product, version: '1.15.7.61582', buildId: 61582, root: 'wow', files } as const;
  await publishBuild({ ...build, hosts: [`127.0.0.1:${port}`], out: scratch('cdn') });
  server = await serveFolder(scratch('cdn'), { port });
});
afterAll(() => server?.close());

/** True where a program of the system works; says so where it does not. */
function works(needed: string, command: string, ...args: string[]): boolean {
  const isThere = spawnSync(command, args, { stdio: 'ignore' }).status === 0;
  if (!isThere) console.warn(`SKIPPED, ${[command, ...args].join(' ')} does not work here: ${needed}`);
  return isThere;
}
const testIf = (isThere: boolean): typeof test.skip => (isThere ? test : test.skip);

/** A place of its own for what a service keeps, and no home. */
const environmentFor = (store: string, added: Record<string, string> = {}): Record<string, string> => ({
  HOME: '/nonexistent',
  ...added,
  PAKRAT_STORE: scratch(store),
  PAKRAT_PATCH_URL: server.url,
});

/** Runs a watch until a build is held, and stops it as a service manager does; one that looks once ends by itself. */
async function runUntilHeld(args: readonly string[], env: Record<string, string>): Promise<Run> {
  const { child, ended } = startPakrat(args, { env });
  let seen = '';
  child.stdout?.on('data', (piece) => {
    seen += String(piece);
  });
  while (!seen.includes('is held') && child.exitCode === null) await sleep(20);
  if (!args.includes('--once')) child.kill('SIGTERM');
  return ended;
}

const held = expect.stringContaining(`${product}@1.15.7.61582 is held`);

describe('systemd', () => {
  const units = readdirSync(folder).filter((name) => /\.(?:service|timer)$/.test(name));
  const services = units.filter((name) => name.endsWith('.service'));
  const valuesOf = (unit: string, key: string): string[] =>
    [...unit.matchAll(new RegExp(`^${key}=(.*)$`, 'gm'))].map(([, value = '']) => value);
  const verify = (file: string): string =>
    spawnSync('systemd-analyze', ['verify', '--man=no', file], { encoding: 'utf8' }).stderr;

  const ifThere = testIf(works('units are not verified', 'systemd-analyze', '--version'));
  ifThere('finds no fault with a unit, and would', () => {
    expect(units).toHaveLength(3);
    expect(units.map((name) => [name, verify(`./${folder}/${name}`)])).toEqual(units.map((name) => [name, '']));
    writeFileSync(scratch('wrong.service'), read('pakrat-watch.service').replace('ProtectHome=', 'ProtectHouse='));
    expect(verify(scratch('wrong.service'))).toContain('ProtectHouse');
  });

  test('a timer starts the service of its name, and both services run in the same sandbox', () => {
    for (const name of units) if (name.endsWith('.timer')) expect(units).toContain(name.replace('.timer', '.service'));
    const [one, other] = services.map((name) => read(name).split('# To others')[1]?.split('\n\n[Install]')[0]?.trim());
    expect(one).toContain('ProtectSystem=strict');
    expect(one).toBe(other);
  });

  test.each(services)('%s runs, keeps its store in its state folder, and ends with 0', async (name) => {
    const unit = read(name);
    const [command = ''] = valuesOf(unit, 'ExecStart');
    const settings = valuesOf(unit, 'Environment').map((line) => line.split('=') as [string, string]);
    const given = Object.fromEntries(settings);
    expect(given).toEqual({ PAKRAT_STORE: `/var/lib/${valuesOf(unit, 'StateDirectory')}` });
    const [env, pakrat, ...args] = command.split(' ');
    expect([env, pakrat]).toEqual(['/usr/bin/env', 'pakrat']);
    expect(args.includes('--once')).toBe(valuesOf(unit, 'Type')[0] === 'oneshot');
    const { status, stdout } = await runUntilHeld(args, environmentFor(name, given));
    expect([status, stdout]).toEqual([0, held]);
    expect(existsSync('/nonexistent')).toBe(false);
  });
});

describe('containers', () => {
  const dockerfile = read('Dockerfile').replaceAll('\\\n', ' ');
  const compose = read('compose.yaml');
  const of = (instruction: string): string[] =>
    [...dockerfile.matchAll(new RegExp(`^${instruction} (.*)$`, 'gm'))].map(([, rest = '']) => rest);

  test('the image starts pakrat, as somebody who is not root, with the store on a volume', () => {
    const lines = dockerfile.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
    for (const line of lines)
      expect(line).toMatch(/^(?:FROM|ARG|RUN|ENV|VOLUME|USER|WORKDIR|HEALTHCHECK|ENTRYPOINT|CMD) \S/);
    expect([of('ENTRYPOINT'), of('USER')]).toEqual([['["pakrat"]'], ['node']]);
    const [volume] = of('VOLUME');
    expect(of('ENV')).toEqual([`PAKRAT_STORE=${volume}`]);
    expect(compose).toContain(`- store:${volume}\n`);
    expect(compose).toMatch(/\nvolumes:\n {2}store:\n/);
  });

  test('the service of compose.yaml runs, and ends with 0 on SIGTERM', async () => {
    const [, command = '[]'] = /^ {4}command: (\[.*\])$/m.exec(compose) ?? [];
    const { status, stdout } = await runUntilHeld(JSON.parse(command) as string[], environmentFor('container'));
    expect([status, stdout]).toEqual([0, held]);
  });

  testIf(works('compose.yaml is not checked', 'docker', 'compose', 'version'))('compose knows all of it', () => {
    const { status, stderr } = spawnSync(
      'docker',
      ['compose', '--file', `${folder}/compose.yaml`, 'config', '--quiet'],
      {
        encoding: 'utf8',
      },
    );
    expect([status, stderr]).toEqual([0, '']);
  });

  // Without the image of Node it would ask for it elsewhere.
  const [base = ''] = of('FROM');
  const canBuild =
    works('the Dockerfile is not checked', 'docker', 'image', 'inspect', base) &&
    works('the Dockerfile is not checked', 'docker', 'buildx', 'version');
  testIf(canBuild)('docker knows all of the Dockerfile', () => {
    const { status, stdout, stderr } = spawnSync('docker', ['build', '--check', folder], { encoding: 'utf8' });
    expect({ status, stdout, stderr }).toMatchObject({ status: 0 });
  });
});

describe('the hook', () => {
  const announce = (event: object, url = '') =>
    spawnSync(process.execPath, [`${folder}/announce.mjs`], {
      input: JSON.stringify({ time: new Date().toISOString(), ...event }),
      env: url === '' ? {} : { ANNOUNCE_URL: url },
      encoding: 'utf8',
    });

  test('sends a sentence of a build that came, as the watch runs it', async () => {
    const got: string[] = [];
    const receiver = await httpServer(async (request, answer) => {
      got.push(await text(request));
      answer.end();
    });
    const hook = `'${process.execPath}' ${folder}/announce.mjs`;
    const env = { ...environmentFor('hook'), ANNOUNCE_URL: `http://${receiver.host}/` };
    const { status, stderr } = await startPakrat(['watch', product, '--once', '--quiet', '--hook', hook], { env })
      .ended;
    await receiver.close();
    expect([status, stderr]).toEqual([0, '']);
    expect(got.map((line) => JSON.parse(line))).toEqual([
      { text: expect.stringMatching(`^${product} 1.15.7.61582 is held; \\d+ bytes fetched$`) },
    ]);
  });

  test('prints where there is no address, says nothing of a look, and fails where nobody answers', async () => {
    expect(announce({ event: 'watching', products: [product] })).toMatchObject({ status: 0, stdout: '' });
    const forgot = { event: 'forgot', builds: [{}, {}], bytes: 7, diskBytes: 5 };
    expect(announce(forgot).stdout).toBe('2 builds forgotten; 5 bytes given back\n');
    const trouble = { event: 'trouble', product: null, code: 'E_STORE_FULL', message: 'the disk is full' };
    expect(announce(trouble).stdout).toBe('The store: the disk is full (E_STORE_FULL)\n');
    expect(announce({ event: 'recovered', product }).stdout).toBe(`${product}: the trouble is over\n`);
    expect(announce(trouble, `http://127.0.0.1:${await freePort()}/`).status).toBe(1);
  });
});

describe('the page', () => {
  const blocks = [...page.matchAll(/^```(?:sh)?\n(.*?)^```$/gms)].flatMap(([, block = '']) => block.split('\n'));
  const inContainer = /^docker compose (?:exec watch pakrat|run --rm watch) /;
  const lines = blocks
    .map((line) => line.replace(inContainer, 'pakrat ').replace(/\s+#.*/, ''))
    .filter((line) => line.startsWith('pakrat '));
  const isRunnable = (line: string): boolean => !line.includes('jq') || works(line, 'jq', '--version');

  beforeAll(async () => {
    const { status } = await startPakrat(['watch', product, '--once'], { env: environmentFor('page') }).ended;
    expect(status).toBe(0);
  });

  test('has command lines', () => expect(lines.length).toBeGreaterThan(4));

  test.each([...new Set(lines)].filter(isRunnable))('%s', async (line) => {
    const env = environment(environmentFor(line.startsWith('pakrat watch') ? 'page-watch' : 'page'));
    // Not waited for in one go: the server of the CDN is in this process.
    const child = spawn('sh', ['-c', `${programLine}\n${line}`], {
      env,
      cwd: scratch(),
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const [stderr, status] = await Promise.all([
      text(child.stderr),
      new Promise<number | null>((done) => child.on('close', done)),
    ]);
    expect({ status, problem: status === 0 ? '' : stderr }).toEqual({ status: 0, problem: '' });
  });
});
