import { statfsSync } from 'node:fs';
import { join } from 'node:path';
import { fromHex, toHex } from '../../core/bytes.ts';
import { isDamage, isStoreTrouble, isSystemError, resultUnless } from '../../core/errors.ts';
import { ByteReader } from '../../core/reader.ts';
import { ByteWriter } from '../../core/writer.ts';
import { isLacking, readDerived } from '../../store/derived/derived-file.ts';
import { writeDerived } from '../../store/derived/derived-writer.ts';
import { NamedBytes } from '../../store/derived/named-bytes.ts';
import type { BuildIdentity } from '../../store/ledger/rows.ts';
import type { Store } from '../../store/store.ts';

/*
 * What a build names never changes: its two configs decide it. So it is found out once, and kept as marks/<build config>, a derived file:
 *
 *   version       u16, 1
 *   build config  [16], CDN config [16]
 *   named         see store/derived/named-bytes.ts; ekeys are sorted, of all that may lie as an object of its own
 */
const version = 1;
const what = 'marks of a build';

type NamedConfigs = Pick<BuildIdentity, 'buildConfig' | 'cdnConfig'>;

/** Of a disk with less free space than this nothing is taken: whoever gives space back may need the last of it. */
const leastFreeBytes = 16 * 1024 * 1024;

/** What is kept of the marks of a build; undefined where they are not there, damaged, or those of another CDN config. */
export function readMarks({ layout }: Store, build: NamedConfigs, archives: number): NamedBytes | undefined {
  const isAbsent = (error: unknown): boolean => isLacking(error) || isSystemError(error);
  const bytes = resultUnless(isAbsent, () => readDerived(join(layout.marks, build.buildConfig)));
  return bytes && resultUnless(isDamage, () => decodeMarks(bytes, build, archives));
}

/** Keeps the marks of a build. Where the store cannot be written, or has hardly any room, they are found out again the next time. */
export function keepMarks({ layout, writable }: Store, build: NamedConfigs, marks: NamedBytes): void {
  if (!writable) return;
  const { bavail, bsize } = statfsSync(layout.root);
  if (bavail * bsize < leastFreeBytes) return;
  resultUnless(isStoreTrouble, () =>
    writeDerived(join(layout.marks, build.buildConfig), encodeMarks(build, marks), layout.temporary),
  );
}

function encodeMarks({ buildConfig, cdnConfig }: NamedConfigs, marks: NamedBytes): Uint8Array {
  const writer = new ByteWriter().u16(version).raw(fromHex(buildConfig)).raw(fromHex(cdnConfig));
  marks.write(writer);
  return writer.bytes();
}

function decodeMarks(bytes: Uint8Array, build: NamedConfigs, archives: number): NamedBytes | undefined {
  const reader = new ByteReader(bytes, what);
  const isRight =
    reader.u16() === version &&
    toHex(reader.take(16)) === build.buildConfig &&
    toHex(reader.take(16)) === build.cdnConfig;
  const marks = isRight ? NamedBytes.read(reader, archives) : undefined;
  if (marks !== undefined) reader.end();
  return marks;
}
