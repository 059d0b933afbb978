import * as fs from 'node:fs';
import { dirname } from 'node:path';
import { md5Hex } from '../../core/hash.ts';
import { copySparse } from '../../files/copies/copy-file.ts';
import { inStore, makeFolderDurable, moveDurable, syncFile, syncFolder } from '../../files/durable.ts';
import { openPlain, readUpTo, sizeOfPlain } from '../../files/read-at.ts';
import { releaseTemporary, removeTemporary, temporaryName } from '../../files/temporary.ts';
import { setAside } from '../clear-way.ts';
import { type HistoryLine, historyText, openLine, sealLine } from './lines.ts';

/** Bytes of a line at most; the longest have an answer of a version service. */
const maxLineBytes = 32 << 20;
const pieceBytes = 1 << 20;
const lineBreak = 0x0a;

/** A line of the file, or one that is damaged. */
type FoundLine = { number: number; line: HistoryLine } | { number: number; md5: string };

/**
 * Appends lines in one write, and flushes them to disk. Several processes may append at a time. What a kill or a full disk left of a line is
 * ended before them, and said to be known.
 * @param texts lines without their checksums
 * @throws E_STORE_FULL, E_STORE; then some of it may be there
 */
export function appendHistory(path: string, texts: readonly string[]): void {
  inStore(path, () => {
    const isNew = !fs.existsSync(path);
    const fd = fs.openSync(path, 'a+');
    try {
      // What is written to a pipe is lost.
      const torn = tornEnd(fd, sizeOfPlain(fd));
      const known = torn === undefined ? '' : `\n${sealLine(knownDamage(torn))}`;
      const bytes = Buffer.from(known + texts.map(sealLine).join(''));
      if (fs.writeSync(fd, bytes) < bytes.length) throw Object.assign(new Error('no space left'), { code: 'ENOSPC' });
      fs.fsyncSync(fd);
      if (isNew) syncFolder(dirname(path));
    } finally {
      fs.closeSync(fd);
    }
  });
}

/**
 * Replaces a history file that a broken disk does not give whole by what it gives of it: in place of the rest is what no line is. The old one goes to the folder of temporary
 * files. Nobody may write to it meanwhile.
 * @throws E_STORE…
 */
export function renewHistory(path: string, temporary: string): void {
  const copy = temporaryName(temporary);
  inStore(path, () => {
    try {
      makeFolderDurable(temporary);
      copySparse(path, copy);
      syncFile(copy);
      setAside(path, temporary);
      moveDurable(copy, path);
      releaseTemporary(copy);
    } finally {
      removeTemporary(copy);
    }
  });
}

/** The text of a line which says that a damaged one is known: what it was about stands elsewhere again. */
export function knownDamage(md5: string): string {
  return historyText('damaged', 'md5', md5);
}

/** The MD5 of what stands behind the last line break; undefined for nothing. */
function tornEnd(fd: number, size: number): string | undefined {
  const last = Buffer.alloc(1);
  if (size === 0 || (fs.readSync(fd, last, 0, 1, size - 1) === 1 && last[0] === lineBreak)) return undefined;
  const end = Buffer.alloc(Math.min(size, maxLineBytes));
  const read = readUpTo(fd, end, size - end.length);
  return md5Hex(end.subarray(end.lastIndexOf(lineBreak, read - 1) + 1, read));
}

/**
 * The lines of a history file, and those that are damaged and not known to be so; none where there is no file.
 * @throws E_STORE when it cannot be read
 */
export function* readHistory(path: string): Generator<FoundLine> {
  const damaged = new Map<string, number>();
  for (const { number, bytes } of linesOf(path)) {
    if (bytes.length === 0) continue;
    const line = bytes.length > maxLineBytes ? undefined : openLine(bytes.toString());
    if (line === undefined) damaged.set(md5Hex(bytes), number);
    else if (line.type === 'damaged') damaged.delete(String(line.md5));
    else yield { number, line };
  }
  for (const [md5, number] of damaged) yield { number, md5 };
}

function* linesOf(path: string): Generator<{ number: number; bytes: Buffer }> {
  if (!fs.existsSync(path)) return;
  const { fd, size: fileSize } = inStore(path, () => openPlain(path));
  try {
    // Nothing can be read into an empty one.
    const piece = Buffer.allocUnsafe(Math.min(pieceBytes, fileSize + 1));
    let parts: Buffer[] = [];
    let number = 1;
    for (;;) {
      const read = inStore(path, () => fs.readSync(fd, piece));
      let start = 0;
      for (let end = piece.indexOf(lineBreak); end !== -1 && end < read; end = piece.indexOf(lineBreak, start)) {
        yield { number, bytes: Buffer.concat([...parts, piece.subarray(start, end)]) };
        number += 1;
        parts = [];
        start = end + 1;
      }
      if (read === 0) break;
      // Of one that is too long to be a line, no more is kept than tells so.
      const size = parts.reduce((sum, part) => sum + part.length, 0);
      if (size <= maxLineBytes) parts.push(Buffer.from(piece.subarray(start, read)));
    }
    yield { number, bytes: Buffer.concat(parts) };
  } finally {
    fs.closeSync(fd);
  }
}
