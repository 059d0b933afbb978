import { describe, expect, test } from '@jest/globals';
import { getVariant } from '../../../../src/builds/files.ts';
import { importListfile } from '../../../../src/builds/listfile/listfile-import.ts';
import { fromHex, toHex } from '../../../../src/core/bytes.ts';
import { md5Hex } from '../../../../src/core/hash.ts';
import { decodeTvfs } from '../../../../src/formats/roots/tvfs/decode.ts';
import { encodeTvfs, type TvfsFileContent } from '../../../../src/formats/roots/tvfs/encode.ts';
import { encodeWowRoot } from '../../../../src/formats/roots/wow/encode.ts';
import { storeLayout } from '../../../../src/store/layout.ts';
import { conformanceBytes, describeConformance } from '../../../support/conformance.ts';
import { scratchFolder } from '../../../support/scratch.ts';
import { openSmallRoot } from '../small-build.ts';

const scratch = scratchFolder();
const key = (digit: string) => digit.repeat(32);
const text = (line: string) => new TextEncoder().encode(line);
const hex = (value: number, digits: number) => value.toString(16).toUpperCase().padStart(digits, '0');

function file(path: string, ckey: string, size = 5): TvfsFileContent {
  const span = { offset: 0, size, ekey: fromHex(ckey).subarray(0, 9), encodedSize: size + 9, contentSize: size };
  return { path, spans: [{ ...span, ckey: fromHex(ckey), espec: 'n' }] };
}

const inner = (...files: [id: number, ckey: string][]) =>
  encodeTvfs({ entries: files.map(([id, ckey]) => file(`${hex(id, 8)}${ckey.toUpperCase()}`, ckey)) });

/** A build whose names are WoW's TVFS: outer paths by locale and content flags, inner ones by id and ckey. */
function wowVfs(outer: [path: string, manifest: Uint8Array][], plain: TvfsFileContent[] = []) {
  const nested = outer.map(([path, manifest]) => file(path, md5Hex(manifest), manifest.length));
  return {
    vfsRoot: encodeTvfs({ entries: [...nested, ...plain] }),
    objects: outer.map(([, manifest]) => manifest),
    config: outer.map(([, manifest], i) => `vfs-${i + 1} = ${md5Hex(manifest)} ${md5Hex(manifest)}`),
  };
}

async function listfile(...lines: string[]): Promise<void> {
  await importListfile(storeLayout(scratch('store')), [text(`${lines.join('\n')}\n`)] as never);
}

const en = inner([7, key('1')], [9, key('3')]);
const de = inner([7, key('2')]);
const low = inner([9, key('4')]);
const build = () =>
  wowVfs(
    [
      ['000000020000', en],
      // 8 digits of content flags, as newer builds have.
      ['0000002000000000', de],
      // Low violence: an alternate, not the file.
      ['0000000200000080', low],
    ],
    [file('.root', key('9'))],
  );

describe('World of Warcraft with names in TVFS only', () => {
  test('paths are ids, with locales and content flags', async () => {
    const root = await openSmallRoot(scratch, build());
    expect(root.kind).toBe('tvfs');
    const get = (id: number, locale: string) => getVariant(root.findId(id), locale, `fdid:${id}`).parts[0]!.ckey;
    expect([get(7, 'enUS'), get(7, 'deDE'), get(9, 'enUS')]).toEqual([key('1'), key('2'), key('3')]);
    expect(root.findId(9).map(({ contentFlags }) => contentFlags)).toEqual(expect.arrayContaining([0, 0x80]));
    expect(root.findId(8)).toEqual([]);
    expect(root.findId(7)[0]!.parts[0]).toEqual({ ckey: key('1'), ekey: key('1').slice(0, 18), size: 5 });
    root.close();
  });

  test('a listing has each id once a variant, in order, and the paths that are no numbers', async () => {
    const root = await openSmallRoot(scratch, build());
    const listed = Array.from(
      root.list(() => true),
      ({ fileDataId, name, localeFlags }) => [fileDataId, name, localeFlags],
    );
    expect(listed).toEqual([
      [undefined, '.root', 0xffffffff],
      [7, undefined, 2],
      [7, undefined, 0x20],
      [9, undefined, 2],
      [9, undefined, 2],
    ]);
    expect(root.find('.ROOT').length).toBe(1);
    root.close();
  });

  test('names come from the listfile', async () => {
    await listfile('7;interface/Icons/seven.blp', '8;nothing.m2');
    const root = await openSmallRoot(scratch, build());
    await root.checkAll();
    const all = Array.from(
      root.list(() => true),
      ({ name, fileDataId }) => name ?? fileDataId,
    );
    expect(all).toEqual(['.root', 'interface/Icons/seven.blp', 'interface/Icons/seven.blp', 9, 9]);
    expect(root.find('INTERFACE\\icons\\SEVEN.blp').map(({ fileDataId }) => fileDataId)).toEqual([7, 7]);
    expect(root.find('nothing.m2')).toEqual([]);
    const blps = Array.from(
      root.list((name) => name.endsWith('.blp')),
      ({ name }) => name,
    );
    expect(blps).toEqual(['interface/Icons/seven.blp', 'interface/Icons/seven.blp']);
    root.close();
  });

  test('a name that lost the last digit of its ckey has it from the span', async () => {
    const manifest = encodeTvfs({ entries: [file(`0000000B${key('5').slice(1)}`, key('5'))] });
    const root = await openSmallRoot(scratch, wowVfs([['FFFFFFFF0000', manifest]]));
    expect(root.findId(11).map(({ parts }) => parts[0]!.ckey)).toEqual([key('5')]);
    root.close();
  });

  test('the classic root goes before, where there is one', async () => {
    const rows = [{ fileDataId: 7, ckey: fromHex(key('8')) }];
    const root = encodeWowRoot({ form: 'tsfm2', blocks: [{ contentFlags: 0x10000000, localeFlags: 2, rows }] });
    const opened = await openSmallRoot(scratch, { ...build(), root });
    expect([opened.kind, opened.findId(7)[0]!.parts[0]!.ckey]).toEqual(['wow', key('8')]);
    opened.close();
  });

  test('look-up files of an older form are made again', async () => {
    const made = build();
    const first = await openSmallRoot(scratch, made);
    first.close();
    const { rmSync } = await import('node:fs');
    rmSync(scratch('store', 'names', `${md5Hex(made.vfsRoot)}.vfsids`));
    const second = await openSmallRoot(scratch, made);
    expect(second.findId(7).length).toBe(2);
    second.close();
  });
});

describeConformance('under the real outer manifest of WoW Classic Era 1.15.8', () => {
  test('all its 238 paths lead to ids', async () => {
    const vfsRoot = conformanceBytes('tact/cascette-rs/tvfs/wow_classic_era_04ca19154f0c48b1.bin');
    const outer = [...decodeTvfs(vfsRoot).files].filter(({ path }) => path !== '.root');
    // The nested manifests are not at hand: each is stood in for by one of a single file, under the name of the real one.
    const contents = outer.map((_, i) => inner([1000 + i, key('a')]));
    const config = outer.map(
      ({ spans: [span] }, i) => `vfs-${i + 1} = ${md5Hex(contents[i]!)} ${toHex(span!.ekey)}${'0'.repeat(14)}`,
    );
    const root = await openSmallRoot(scratch, { vfsRoot, objects: contents, config });
    const [path, ...listed] = [...root.list(() => true)];
    expect(listed.map(({ fileDataId }) => fileDataId)).toEqual(outer.map((_, i) => 1000 + i));
    expect(path!.name).toBe('.root');
    const flags = new Map(outer.map(({ path }, i) => [1000 + i, path]));
    for (const { fileDataId, localeFlags, contentFlags } of listed) {
      expect(`${hex(localeFlags, 8)}${hex(contentFlags, 4)}`).toBe(flags.get(fileDataId!));
    }
    root.close();
  });
});
