import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { parseRows } from '../../src/cli/flags/parse-values.ts';
import { renderInspection } from '../../src/cli/render/inspection.ts';
import { fromHex } from '../../src/core/bytes.ts';
import { codeOf } from '../../src/core/errors.ts';
import { encodeBlte } from '../../src/formats/blte/encode.ts';
import { encodeRibbit } from '../../src/formats/services/ribbit-mime.ts';
import { type Inspection, inspectBytes, problemOf } from '../../src/inspect/inspect.ts';
import { samples } from '../formats/round-trip-samples.ts';
import { conformanceBytes, conformancePath, describeConformance } from '../support/conformance.ts';
import { expectHostileSafe } from '../support/hostile.ts';

const encode = (text: string): Uint8Array => new TextEncoder().encode(text);
const keyName = 'fa505078126acb3e';
const keyRing = {
  find: (name: string) => (name === keyName ? fromHex('bdc51862abed79b2de48c8e7e66c6200') : undefined),
};

interface ManifestEntry {
  format: string;
  checked?: Record<string, unknown>;
}

describeConformance('inspectBytes on real files', () => {
  const manifest = JSON.parse(readFileSync(conformancePath('tact', 'MANIFEST.json'), 'utf8')) as Record<
    string,
    ManifestEntry
  >;
  /** What the manifest calls a format, and what `inspect` calls it. */
  const names: Record<string, RegExp> = {
    'patch-index': /^patch index$/,
    'peer-manifest': /^product config$/,
    shmem: /^shmem$/,
    'data.NNN (local archive)': /^local data$/,
    other: /^(encoding specs|unknown)$/,
    'tact-keys': /^key list$/,
    'archive-index': /^archive index$/,
    config: /^(key ring|build) config$/,
    download: /^download manifest$/,
    encoding: /^encoding file$/,
    install: /^install manifest$/,
    'patch-manifest': /^patch manifest$/,
    'wow-root': /^WoW root$/,
    tvfs: /^TVFS manifest$/,
    blte: /^BLTE$/,
    zbsdiff: /^ZBSDIFF1 patch$/,
    bpsv: /^BPSV table$/,
  };
  const known = Object.entries(manifest).filter(([, { format }]) => names[format] !== undefined);
  const look = (path: string): Inspection => inspectBytes(conformanceBytes('tact', ...path.split('/')));

  test('there are many to try', () => {
    expect(known.length).toBeGreaterThan(25);
  });

  test.each(known)('%s is told by its bytes', (path, { format }) => {
    expect(look(path).format).toMatch(names[format]!);
  });

  test('figures are those that were found before us', () => {
    const checked = (path: string): Record<string, unknown> => manifest[path]!.checked!;
    const index = 'cascette-rs/archive/0017a402f556fbece46c38dc431a2c9b.index';
    expect(look(index).facts).toMatchObject({
      entries: checked(index).count,
      pages: checked(index).pages,
      bytes: 268_435_419,
    });
    const encoding = 'keg/blte/2a6168d8a7122a8dd9b61fb92af3d3f4.in';
    expect(look(encoding).facts).toMatchObject({ ckeys: checked(encoding).ckeys, ekeys: checked(encoding).ekeys });
    const patch = 'cascette-rs/patch_archive/071290388e1f3b898157c372f03bc435.bin';
    const [encodingCkey, encodingEkey, encodingSize, encodingEncodedSize, encodingEspec] = checked(patch)
      .encoding as string[];
    expect(look(patch).facts).toMatchObject({
      encodingCkey,
      encodingEkey,
      encodingSize,
      encodingEncodedSize,
      encodingEspec,
    });
    expect(look(patch).facts).toMatchObject({ name: '071290388e1f3b898157c372f03bc435', files: checked(patch).files });
    const diff = 'cascette-rs/zbsdiff/35dc55e39ec07e21e9f9dd83c41ec208.zbsdiff';
    expect(look(diff).facts).toEqual({ controlSize: 46, diffSize: 95, extraSize: 9, resultSize: 9847 });
    const cut = inspectBytes(conformanceBytes('tact', ...diff.split('/')).subarray(0, 100));
    expect([cut.facts.resultSize, problemOf(cut)?.code]).toEqual([9847, 'E_FORMAT_TRUNCATED']);
    const { table: patches } = look(patch);
    expect(patches).toMatchObject({ what: 'patches', count: look(patch).facts.patches });
    expect(Object.keys(patches?.rows[0] ?? {})).toEqual(expect.arrayContaining(['sourceEkey', 'sourceSize', 'order']));
    expect(look(encoding).more).toMatchObject([
      { what: 'objects', count: checked(encoding).ekeys, rows: { length: 10 } },
    ]);
    const retail = 'cascette-rs/root/retail_11.2.7_v2_3blocks.root';
    expect(look(retail).facts).toMatchObject({ version: 'tsfm2', headerTotal: 2_974_106, headerNamed: 237_592 });
    expect(look(retail).table?.rows[0]).toMatchObject({
      fileDataId: 121_595,
      ckey: 'd17021350dc1882df6fc7cfc47ca890a',
    });
    const install = look('cascette-rs/install/classic_era_1.15.7_v1.install');
    expect(install.facts.tags).toContain('Windows (type 1): 46');
    expect(install.table?.rows[0]).toMatchObject({ path: 'Utils\\icudtl.dat', size: 10_505_952 });
  });

  test('what is wrapped is unwrapped and described', () => {
    const wrapped = look('cascette-rs/tvfs/wow_classic_era_04ca19154f0c48b1.blte');
    expect(wrapped).toMatchObject({
      format: 'BLTE',
      facts: { ekey: '2a6f1a538227094c04a4c364b1dda995', modes: ['Z 1'] },
    });
    expect(wrapped.inside).toMatchObject({
      format: 'TVFS manifest',
      md5: '04ca19154f0c48b1a0ed06dc342fa6b1',
      facts: { files: 239 },
    });
    expect(wrapped.inside?.table?.rows[0]?.path).toBe('.root');
    expect(wrapped.inside?.more).toMatchObject([
      { what: 'spans', count: 239, rows: [{ path: '.root', offset: 0 }, ...Array(9).fill({})] },
    ]);
  });

  test('every file of the manifest is tried', () => {
    expect(known.length).toBe(Object.keys(manifest).length);
  });

  test('names are compared with the hashes that they may be', () => {
    const named = (path: string, name: string) => inspectBytes(conformanceBytes('tact', ...path.split('/')), { name });
    const index = 'cascette-rs/archive/0017a402f556fbece46c38dc431a2c9b.index';
    expect(named(index, '0017A402f556fbece46c38dc431a2c9b.index').nameIs).toBe('MD5 of the footer');
    const patch = 'cascette-rs/patch_archive/071290388e1f3b898157c372f03bc435.bin';
    expect(named(patch, '071290388e1f3b898157c372f03bc435').nameIs).toBe('MD5 of the header');
    const diff = 'cascette-rs/zbsdiff/35dc55e39ec07e21e9f9dd83c41ec208.zbsdiff';
    expect(named(diff, '35dc55e39ec07e21e9f9dd83c41ec208').nameIs).toBe('MD5');
    const blte = 'cascette-rs/tvfs/wow_classic_era_04ca19154f0c48b1.blte';
    expect(named(blte, '2a6f1a538227094c04a4c364b1dda995').nameIs).toBe('ekey');
    expect(named(blte, '04ca19154f0c48b1a0ed06dc342fa6b1').nameIs).toBe('MD5 of what is inside');
    expect(problemOf(named(blte, '0'.repeat(32)))).toMatchObject({ code: 'E_INTEGRITY' });
    expect(problemOf(named(blte, 'wow.blte'))).toBeUndefined();
    expect(named(blte, '2a6f1a538227094c04a4c364b1dda995.install').nameIs).toBe('ekey');
    expect(problemOf(named(blte, `${'0'.repeat(32)}.install`))?.code).toBe('E_INTEGRITY');
  });

  test('an MNDX root, a trie of names, a shmem, a piece of data.000', () => {
    expect(inspectBytes(conformanceBytes('mndx', 'mini.mndx'))).toMatchObject({
      format: 'MNDX root',
      facts: { packages: ['p0', 'p1'], files: 4 },
    });
    expect(inspectBytes(conformanceBytes('mndx', 'mini.mar'))).toMatchObject({
      format: 'name trie',
      table: { rows: expect.arrayContaining([{ id: 1, name: 'a/x' }]) },
    });
    expect(look('heksesang-CascLib/shmem').facts).toMatchObject({
      version: 4,
      dataFolder: 'Global\\I:/World of Warcraft Beta/Data/data',
    });
    const data = look('heksesang-CascLib/data');
    expect(data.table?.rows).toMatchObject([
      { ekey: 'ef25268fe3b67ecb2e5fc79052174a9d', offset: 0, size: 3656, headerIsIntact: 'yes' },
      { offset: 3656, size: 16726 },
    ]);
    const entry = inspectBytes(conformanceBytes('tact', 'heksesang-CascLib', 'data').subarray(0, 3656));
    expect(entry.inside).toMatchObject({ format: 'BLTE', inside: { md5: '47610bed5ce729d94abd01fc3b2d1c8d' } });
  });

  test('keys are not shown, only their names', () => {
    const list = inspectBytes(conformanceBytes('pak', 'nadeo', 'packlist.dat'));
    expect(list).toMatchObject({ format: 'packlist.dat', facts: { game: 'trackmania' } });
    expect(JSON.stringify(list)).not.toMatch(/[0-9a-f]{32}.*[0-9a-f]{32}/i);
    const ring = look('cascette-rs/config/overwatch_keyring_config.txt');
    expect(ring.table?.rows[0]).toEqual({ keyName: '7758b2cf1e4e3e1b' });
    expect(JSON.stringify(ring)).not.toContain('3de60d37c664723595f27c5cdbf08bfa');
    expect(JSON.stringify(look('TACTKeys/WoW-first-100.txt'))).not.toMatch(/b73abb11de6555035dd8bb38d32adbd3/i);
  });

  test('bad bytes of any format are refused or shown, never a crash', () => {
    for (const [path] of known) {
      expectHostileSafe((input) => inspectBytes(input), conformanceBytes('tact', ...path.split('/')), {
        samples: 12,
        prefixesFail: false,
      });
    }
  });
});

describe('inspectBytes', () => {
  test('bytes of no known format are unknown, with their start', () => {
    expect(inspectBytes(Uint8Array.of(0xff, 0xd8, 0x41, 0))).toMatchObject({
      format: 'unknown',
      facts: { start: 'ffd84100', text: '..A.' },
    });
    expect(inspectBytes(new Uint8Array(0)).format).toBe('unknown');
    expect(inspectBytes(encode('IN the beginning')).format).toBe('unknown');
  });

  test('texts of every kind are told apart', () => {
    const key = 'a'.repeat(32);
    const kinds: [string, string][] = [
      [`# Build Configuration\n\nroot = ${key}\nencoding = ${key} ${key}\n`, 'build config'],
      [`# CDN Configuration\n\narchives = ${key}\n`, 'CDN config'],
      [`# Patch Configuration\n\npatch-entry = install ${key} 1 ${key} 1\n`, 'patch config'],
      [`# Keyring\n\nkey-0123456789abcdef = ${key}\n`, 'key ring config'],
      ['one = 1\n', 'config'],
      [`0123456789ABCDEF ${key}\n`, 'key list'],
      ['{"all": {"config": {"product": "WoW"}}}', 'product config'],
      ['Region!STRING:0|BuildId!DEC:4\r\nus|1\r\n', 'BPSV table'],
      ['53183;sound/music/gluescreenmusic/bccredits_lament.mp3\r\n', 'listfile'],
    ];
    for (const [text, format] of kinds) expect(inspectBytes(encode(text)).format).toBe(format);
  });

  test('a Ribbit answer is opened', () => {
    const data = encode('Region!STRING:0\n## seqn = 5\nus\n');
    const answer = encodeRibbit({ data, disposition: 'versions' });
    expect(inspectBytes(answer)).toMatchObject({
      format: 'Ribbit answer',
      inside: { format: 'BPSV table', facts: { seqn: 5 } },
    });
  });

  test('an encrypted object names its key, and is opened with it', () => {
    const config = encode('one = 1\n');
    const { bytes } = encodeBlte(config, `b:{8=e:{${keyName.match(/../g)!.reverse().join('')},01020304,n}}`, {
      keys: keyRing,
    });
    const locked = inspectBytes(bytes);
    expect(locked.facts.keyNames).toEqual([keyName]);
    expect(problemOf(locked)).toMatchObject({ code: 'E_KEY_MISSING' });
    expect(inspectBytes(bytes, { keys: keyRing })).toMatchObject({ inside: { format: 'config' } });
  });

  test('a damaged object is shown as far as it goes, with its problem', () => {
    const { bytes } = encodeBlte(encode('x'.repeat(1000)), 'b:{500=n,*=z}');
    bytes[bytes.length - 1]! ^= 1;
    expect(inspectBytes(bytes)).toMatchObject({
      facts: { chunks: 2, modes: ['N 1', 'Z 1'] },
      problem: { code: 'E_INTEGRITY' },
    });
    expect(() => inspectBytes(bytes.subarray(0, 30))).toThrow(expect.objectContaining({ code: 'E_FORMAT_TRUNCATED' }));
  });

  test('--encoded shows the chunks, not what is inside', () => {
    const { bytes } = encodeBlte(encode('x'.repeat(1000)), 'b:{500=n,*=z}');
    const shown = inspectBytes(bytes, { encoded: true });
    expect(shown.inside).toBeUndefined();
    expect(shown.table?.rows).toMatchObject([
      { chunk: 0, offset: 60, encodedSize: 501, decodedSize: 500, mode: 'N' },
      { chunk: 1, decodedSize: 500, mode: 'Z' },
    ]);
  });

  test('objects in objects in objects end', () => {
    let bytes = encode('one = 1\n');
    for (let i = 0; i < 10; i++) bytes = encodeBlte(bytes, 'n').bytes;
    let depth = 0;
    for (let at: Inspection | undefined = inspectBytes(bytes); at !== undefined; at = at.inside) depth += 1;
    expect(depth).toBe(5);
  });

  test('rows: the first ten, or those asked for', () => {
    const bytes = encode(Array.from({ length: 50 }, (_, i) => `key${i} = ${i}\n`).join(''));
    const rows = (text?: string): unknown[] =>
      inspectBytes(bytes, { rows: text === undefined ? undefined : parseRows(text) }).table!.rows.map(
        ({ value }) => value,
      );
    expect(rows()).toEqual(['0', '1', '2', '3', '4', '5', '6', '7', '8', '9']);
    expect(rows('7')).toEqual(['7']);
    expect(rows('48-60')).toEqual(['48', '49']);
    expect(rows('47-')).toEqual(['47', '48', '49']);
    expect(rows('50-')).toEqual([]);
    for (const bad of ['', 'a', '5-3', '-5', '1-2-3', '1.5'])
      expect(() => parseRows(bad)).toThrow(expect.objectContaining({ code: 'E_USAGE' }));
  });
});

test('as text: what it is, its facts, its rows, and what is inside', () => {
  const { bytes } = encodeBlte(encode('one = 1\ntwo = 2\n'), 'z');
  const text = renderInspection(inspectBytes(bytes, { rows: { first: 1, last: 1 } }), 200);
  expect(text).toMatch(/^BLTE, \d+ bytes, MD5 [0-9a-f]{32}\n {2}ekey/);
  expect(text).toContain('inside: config, 16 bytes, MD5');
  expect(text).toContain('lines 1 to 1 of 2; --rows A-B shows others, --all all\nkey  value\ntwo  2');
});

test('a hash that does not match is one kind of damage, whichever format has it', () => {
  const codeFor = (bytes: Uint8Array): string | undefined => {
    try {
      return problemOf(inspectBytes(bytes))?.code;
    } catch (error) {
      return codeOf(error);
    }
  };
  const manifest = samples['patch manifest']?.[0] ?? new Uint8Array();
  expect(codeFor(manifest)).toBeUndefined();
  const changed = manifest.slice();
  const middle = manifest.length >> 1;
  changed[middle] = manifest[middle]! ^ 1;
  expect(codeFor(changed)).toBe('E_INTEGRITY');
});
