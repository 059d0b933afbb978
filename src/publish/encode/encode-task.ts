import { encodeBlte, encodeChunk } from '../../formats/blte/encode.ts';
import { parseEspec } from '../../formats/blte/espec.ts';
import type { TactKey } from '../../formats/configs/key-list.ts';
import { makeZbsdiff } from '../../formats/patches/zbsdiff.ts';
import { bytesContent } from './content.ts';
import { ringOf } from './encode-content.ts';
import { looksRandom } from './looks-random.ts';

/** A piece of work that takes long and needs nothing but bytes. Plain data, for it travels to threads. */
export type EncodeTask =
  /** The whole object of a content, as the first spec says; as the second, where there is one and the first makes nothing smaller. */
  | { kind: 'object'; content: Uint8Array; especs: readonly string[]; key?: TactKey | undefined }
  /** The chunk of this index of an object. With `isOwn` nobody looks at its bytes again. */
  | { kind: 'chunk'; content: Uint8Array; isOwn: boolean; espec: string; index: number; key?: TactKey | undefined }
  /** The patch from one content to another. */
  | { kind: 'patch'; content: Uint8Array; previous: Uint8Array };

/** The outcome of a task. */
export interface EncodeAnswer {
  bytes: Uint8Array;
  /** Of an object: the spec that was taken. */
  espec: string;
}

/** Does a task. @throws as encodeBlte */
export function runEncodeTask(task: EncodeTask): EncodeAnswer {
  const { kind, content } = task;
  if (kind === 'patch') return { bytes: makeZbsdiff(task.previous, content), espec: '' };
  const keys = ringOf(task.key);
  if (kind === 'chunk') {
    const bytes = encodeChunk(content, parseEspec(task.espec), { keys, index: task.index });
    return { bytes, espec: task.espec };
  }
  const [first = '', second] = task.especs;
  if (second !== undefined && looksRandom(bytesContent('', content)))
    return { bytes: encodeBlte(content, second, { keys }).bytes, espec: second };
  const { bytes } = encodeBlte(content, first, { keys });
  if (second === undefined) return { bytes, espec: first };
  const { bytes: other } = encodeBlte(content, second, { keys });
  return other.length <= bytes.length ? { bytes: other, espec: second } : { bytes, espec: first };
}
