import { breathe } from '../../../core/breathe.ts';
import { IdSet } from '../../../core/tables/id-set.ts';
import type { WowRootBlock } from '../../../formats/roots/wow/layout.ts';
import type { LookupFile } from '../../../store/derived/lookup-file.ts';
import type { PickVariant } from '../root.ts';
import { OrderCursor } from './name-order.ts';

/** A root, as far as its files are compared. */
export interface ComparedRoot {
  /** Of the same list of names as that of the other. */
  order: LookupFile;
  bytes: Buffer;
  blockOf: (row: number) => WowRootBlock;
}

const ckeySize = 16;
/** Files that are compared before the clock is looked at. */
const filesPerTurn = 1024;

/**
 * The ids that two roots have under the same name and with the same content. Both are sorted by names, so each is gone through once; a file that
 * the list names otherwise than a root is left to others.
 * @throws E_ABORTED
 */
export async function sameIds(
  one: ComparedRoot,
  other: ComparedRoot,
  { pick, signal }: { pick: PickVariant; signal?: AbortSignal | undefined },
): Promise<IdSet> {
  const same = new IdSet();
  const [left, right] = [new OrderCursor(one.order), new OrderCursor(other.order)];
  const [leftCkey, rightCkey] = [picker(one, pick), picker(other, pick)];
  let [isLeft, isRight] = [left.next(), right.next()];
  for (let compared = 1; isLeft && isRight; compared++) {
    const difference = left.offset - right.offset || left.fileDataId - right.fileDataId;
    if (difference === 0 && !left.isMisfit && !right.isMisfit) {
      const [at, otherAt] = [leftCkey(left.rows), rightCkey(right.rows)];
      if (at >= 0 && otherAt >= 0 && isEqual(one.bytes, at, other.bytes, otherAt)) same.add(left.fileDataId);
    }
    if (difference <= 0) isLeft = left.next();
    if (difference >= 0) isRight = right.next();
    if (compared % filesPerTurn === 0) await breathe(signal);
  }
  return same;
}

/** A function that gives the offset of the ckey of the row that is picked; -1 where none is. */
function picker({ blockOf }: ComparedRoot, pick: PickVariant): (rows: readonly number[]) => number {
  // Most files have one row, and there are few blocks.
  const picked = new Map<WowRootBlock, boolean>();
  const isPicked = (block: WowRootBlock): boolean => {
    const known = picked.get(block) ?? pick([block]) !== undefined;
    picked.set(block, known);
    return known;
  };
  return (rows) => {
    const [row = 0, another] = rows;
    if (another === undefined) return isPicked(blockOf(row)) ? ckeyOffset(blockOf(row), row) : -1;
    const variant = pick(rows.map((row) => ({ row, ...flagsOf(blockOf(row)) })));
    return variant === undefined ? -1 : ckeyOffset(blockOf(variant.row), variant.row);
  };
}

function flagsOf({ localeFlags, contentFlags }: WowRootBlock): Pick<WowRootBlock, 'localeFlags' | 'contentFlags'> {
  return { localeFlags, contentFlags };
}

function ckeyOffset(block: WowRootBlock, row: number): number {
  return block.ckeyOffset + (row - block.firstRow) * block.ckeyStride;
}

function isEqual(one: Buffer, at: number, other: Buffer, otherAt: number): boolean {
  for (let i = 0; i < ckeySize; i++) if (one[at + i] !== other[otherAt + i]) return false;
  return true;
}
