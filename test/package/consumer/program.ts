// A program of somebody else: it knows pakrat by the doors of the package alone. See packed.test.ts, which compiles and runs it.
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isPakratError, openPakrat, type Pakrat, PakratError, type Progress, type SourceFile } from 'pakrat';
import {
  blteFormat,
  decodeBlte,
  decodeConfig,
  decodeListfile,
  encodeBlte,
  encodeConfig,
  type ListfileRow,
} from 'pakrat/formats';
import { openPak, type PackFile, type PackSink, type Pak, writeQuakePak } from 'pakrat/paks';

const [folder = '', patchUrl = '', threads = ''] = process.argv.slice(2);
const md5 = (bytes: Uint8Array): string => createHash('md5').update(bytes).digest('hex');

async function codeOf(work: Promise<unknown>): Promise<string> {
  try {
    await work;
    return 'none';
  } catch (error) {
    return isPakratError(error) ? error.code : String(error);
  }
}

async function syncAndRead(pakrat: Pakrat) {
  const phases = new Set<string>();
  const onProgress = (event: Progress): void => void phases.add(event.type);
  const { missing, fetched } = await pakrat.sync('lantern', { onProgress });
  const names: ListfileRow[] = [...decodeListfile(readFileSync(join(folder, 'names.csv')))];
  await pakrat.listfile.import(join(folder, 'names.csv'));
  const source = await pakrat.open('lantern');
  const files: Record<string, number | null> = {};
  for await (const file of source.list()) files[file.name] = file.size;
  const story: SourceFile | undefined = await source.find('texts/story.txt');
  const streamed: Uint8Array[] = [];
  for await (const piece of source.stream('maps/01-gatehouse.map', { size: 1000 })) streamed.push(piece);
  const read = {
    story: md5(await source.bytes('texts/story.txt')),
    storySize: story?.size,
    mapStart: md5(Buffer.concat(streamed)),
    locked: await codeOf(source.bytes('secrets/ending.txt')),
    missingKeys: (await source.missingKeys()).map(({ key }) => key),
    none: await codeOf(source.bytes('none')),
  };
  await source.close();
  const { checked, bad } = await pakrat.verify('lantern');
  return {
    missing: missing.entries,
    fetchedAll: fetched.bytes > 0,
    progress: phases.size > 0,
    names: names.length,
    files,
    read,
    verified: [checked.entries > 0, bad.length],
  };
}

async function packAndOpen(pakrat: Pakrat) {
  mkdirSync(join(folder, 'in'), { recursive: true });
  writeFileSync(join(folder, 'in/autoexec.cfg'), 'bind F12 screenshot\n');
  await pakrat.pack.quake(join(folder, 'pak0.pak'), join(folder, 'in'), { force: true });
  const pieces: Uint8Array[] = [];
  const sink: PackSink = { write: async (bytes) => void pieces.push(bytes.slice()) };
  const text = new TextEncoder().encode('a map');
  const file: PackFile = {
    name: 'maps/a.bsp',
    size: text.length,
    async *open() {
      yield text;
    },
  };
  await writeQuakePak([file], sink);
  writeFileSync(join(folder, 'pak1.pak'), Buffer.concat(pieces));
  const pak: Pak = await openPak(join(folder, 'pak1.pak'));
  const entries = pak.entries.map(({ name, size }) => [name, size]);
  await pak.close();
  const source = await pakrat.open(join(folder, 'pak0.pak'));
  const config = new TextDecoder().decode(await source.bytes('autoexec.cfg'));
  await source.close();
  return { entries, config };
}

function encodeAndDecode() {
  const data = new TextEncoder().encode('all work and no play '.repeat(100));
  const { bytes, ekey } = encodeBlte(data, 'b:{1K*=z}');
  const config = new TextEncoder().encode('# Build Configuration\n\nroot = 0123456789abcdef0123456789abcdef\n');
  return {
    same: md5(decodeBlte(bytes)) === md5(data),
    smaller: bytes.length < data.length,
    ekey: ekey.length,
    matches: blteFormat.matches(bytes),
    config: md5(encodeConfig(decodeConfig(config))) === md5(config),
  };
}

const pakrat = await openPakrat({
  store: join(folder, 'store'),
  patchUrl,
  ...(threads !== '' && { threads: Number(threads) }),
});
const said = {
  build: await syncAndRead(pakrat),
  pak: await packAndOpen(pakrat),
  formats: encodeAndDecode(),
  error: new PakratError('E_USAGE', 'of my own').code,
};
await pakrat.close();
console.log(JSON.stringify(said));
