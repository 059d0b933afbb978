import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { verifyExitCode } from '../../src/cli/render/verify.ts';
import { openPakrat } from '../../src/pakrat.ts';
import { conformancePath, describeConformance } from '../support/conformance.ts';
import { runPakrat } from '../support/run-pakrat.ts';
import { scratchFolder } from '../support/scratch.ts';

const scratch = scratchFolder();
const key = '0123456789abcdef'.repeat(4);
const files: Record<string, string> = {
  'a.txt': 'a text that repeats itself, '.repeat(9000),
  'maps/b.bsp': 'B',
  'maps/deep/empty': '',
};

beforeAll(() => {
  mkdirSync(scratch('files/maps/deep'), { recursive: true });
  for (const [name, text] of Object.entries(files)) writeFileSync(scratch('files', name), text);
});

const nadeoKey = key.slice(0, 32);
/** The key is that for reading; of each family one is also refused, read and verified by the program. */
const variants: [family: string, flags: string[], key?: string | undefined, byProgram?: boolean][] = [
  ['quake', [], undefined, true],
  ['unreal', ['--version', '1']],
  ['unreal', ['--version', '3', '--compress', 'zlib', '--mount-point', '../../../Game/']],
  ['unreal', ['--version', '8A', '--compress', 'zlib', '--block-size', '4K']],
  ['unreal', ['--compress', 'zlib', '--key', key, '--encrypt-index'], key, true],
  ['nadeo', ['--key', nadeoKey], nadeoKey, true],
  ['nadeo', ['--version', '8']],
  ['nadeo', ['--version', '18', '--key', nadeoKey], nadeoKey],
];

describe.each(variants)('pack %s %j', (family, flags, readingKey, byProgram) => {
  const out = scratch(`${family}-${flags.join('').replaceAll(/\W/g, '').slice(0, 40)}.pak`);

  test('reads back, verifies, and comes out the same again', async () => {
    const made = runPakrat(['pack', family, out, scratch('files'), ...flags, '--json']);
    expect(JSON.parse(made.stdout)).toMatchObject({ path: out, files: 3, bytes: expect.any(Number) });
    const bytes = readFileSync(out);
    const pakrat = await openPakrat();
    try {
      const pak = { key: readingKey };
      const source = await pakrat.open(out, { pak });
      for (const [name, text] of Object.entries(files)) {
        expect(Buffer.from(await source.bytes(name)).toString()).toBe(text);
      }
      expect(verifyExitCode(await pakrat.verify(out, { pak }))).toBe(0);
    } finally {
      await pakrat.close();
    }
    if (byProgram) {
      const reading = readingKey === undefined ? [] : ['--key', readingKey];
      expect(runPakrat(['cat', out, 'a.txt', ...reading])).toMatchObject({ status: 0, stdout: files['a.txt'] });
      expect(runPakrat(['verify', out, ...reading])).toMatchObject({ status: 0 });
      expect(runPakrat(['pack', family, out, scratch('files'), ...flags]).status).toBe(2);
    }
    expect(runPakrat(['pack', family, out, scratch('files'), ...flags, '--force']).status).toBe(0);
    expect(readFileSync(out).equals(bytes)).toBe(true);
  });
});

describe('pack', () => {
  test('what cannot be packed leaves nothing, and what was there stays', async () => {
    mkdirSync(scratch('long'));
    mkdirSync(scratch('made'));
    writeFileSync(scratch('long', 'n'.repeat(57)), '');
    writeFileSync(scratch('made', 'x.pak'), 'old');
    expect(runPakrat(['pack', 'quake', scratch('made', 'x.pak'), scratch('long'), '--force']).status).toBe(2);
    const pakrat = await openPakrat();
    const made = scratch('made', 'y.pak');
    await expect(pakrat.pack.quake(made, scratch('long'))).rejects.toMatchObject({ code: 'E_USAGE' });
    await pakrat.close();
    expect(runPakrat(['pack', 'unreal', made, scratch('nowhere')]).status).toBe(4);
    expect(runPakrat(['pack', 'unreal', made, scratch('files'), '--version', '13']).status).toBe(2);
    expect(runPakrat(['pack', 'nadeo', made, scratch('files')]).status).toBe(2);
    expect(readdirSync(scratch('made'))).toEqual(['x.pak']);
    expect(readFileSync(scratch('made', 'x.pak'), 'utf8')).toBe('old');
  });
});

describe('what the header of a NadeoPak tells', () => {
  const pack = (name: string, ...flags: string[]) =>
    runPakrat(['pack', 'nadeo', scratch(name), scratch('files'), '--force', ...flags]);
  const info = (name: string): Record<string, unknown> =>
    JSON.parse(runPakrat(['info', scratch(name), '--json']).stdout) as Record<string, unknown>;

  test('author, texts, time and included packs are read back as they were given', () => {
    writeFileSync(scratch('title.xml'), '<title>Größe</title>');
    expect(pack('inner.pak', '--version', '8', '--author', 'inner', '--author-url', 'http://a').status).toBe(0);
    const flags = [
      '--version',
      '13',
      '--author',
      'me',
      '--author-nick',
      '$fff',
      '--author-zone',
      'World|Europe',
      '--title',
      'My@me',
      '--xml',
      scratch('title.xml'),
      '--comment',
      'a comment',
      '--manialink',
      'link',
      '--download-url',
      'http://d',
      '--usage-folder',
      'Titles',
      '--build-info',
      'built',
      '--created',
      '2020-02-03',
      '--include',
      scratch('inner.pak'),
    ];
    expect(pack('outer.pak', ...flags).status).toBe(0);
    const inner = info('inner.pak');
    expect(inner).toMatchObject({ version: '8', author: { login: 'inner' }, authorUrl: 'http://a' });
    expect(info('outer.pak')).toMatchObject({
      version: '13',
      headerEncryption: 'none',
      headerMd5Right: true,
      files: 3,
      author: { login: 'me', nick: '$fff', zone: 'World|Europe' },
      title: 'My@me',
      xml: '<title>Größe</title>',
      comment: 'a comment',
      manialink: 'link',
      downloadUrl: 'http://d',
      usageFolder: 'Titles',
      buildInfo: 'built',
      created: '2020-02-03T00:00:00.000Z',
      includedPacks: [{ name: 'inner.pak', contentsChecksum: inner.contentsChecksum, author: { login: 'inner' } }],
    });
    const bytes = readFileSync(scratch('outer.pak'));
    expect(pack('outer.pak', ...flags).status).toBe(0);
    expect(readFileSync(scratch('outer.pak')).equals(bytes)).toBe(true);
    expect(runPakrat(['verify', scratch('outer.pak')]).status).toBe(0);
  });

  test.each([
    ['no title below version 12', ['--version', '11', '--title', 'x'], 2],
    ['no author in version 3', ['--author', 'x', '--key', key.slice(0, 32)], 2],
    ['the URL of an author in version 8 only', ['--version', '9', '--author-url', 'x'], 2],
    ['a date that is none', ['--version', '9', '--created', 'yesterday'], 2],
    ['XML that is not there', ['--version', '12', '--xml', scratch('no.xml')], 4],
  ])('%s', (_, flags, status) => {
    expect(pack('refused.pak', ...flags)).toMatchObject({ status });
    expect(readdirSync(scratch())).not.toContain('refused.pak');
  });
});

describeConformance('pack nadeo', () => {
  test('takes the key for the name of the pack from a packlist.dat', () => {
    const list = `@${conformancePath('pak', 'nadeo', 'packlist.dat')}`;
    const out = scratch('synth.pak');
    expect(runPakrat(['pack', 'nadeo', out, scratch('files'), '--key', list]).status).toBe(0);
    expect(runPakrat(['cat', out, 'maps/b.bsp', '--key', '00112233445566778899aabbccddeeff']).stdout).toBe('B');
    expect(runPakrat(['pack', 'nadeo', scratch('nobody.pak'), scratch('files'), '--key', list]).status).toBe(2);
  });
});
