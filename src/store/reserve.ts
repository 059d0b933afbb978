import { randomBytes } from 'node:crypto';
import * as fs from 'node:fs';
import { isDiskBroken, resultUnless } from '../core/errors.ts';
import { inStore } from '../files/durable.ts';
import type { StoreLayout } from './layout.ts';

/*
 * A little space that a store keeps for the moment when the disk is full: SQLite cannot even be opened then, and what makes room must write down
 * what goes.
 */
const mostBytes = 4 * 1024 * 1024;
const leastBytes = 256 * 1024;
/** The part of the free space of a small disk that it may take. */
const share = 1 / 16;

/** Sees to it that a store has its reserve. Without room for one there is none. @throws E_STORE… but for a full disk */
export function keepReserve({ root, reserve }: StoreLayout): void {
  if (fs.existsSync(reserve)) return;
  try {
    const { bavail, bsize } = fs.statfsSync(root);
    const size = Math.min(mostBytes, Math.floor(bavail * bsize * share));
    if (size < leastBytes) return;
    // No file system makes such bytes smaller.
    inStore(reserve, () => fs.writeFileSync(reserve, randomBytes(size), { flush: true }));
  } catch {
    // One that a broken disk gives the name alone of stays.
    resultUnless(isDiskBroken, () => fs.rmSync(reserve, { force: true }));
  }
}

/** Gives the reserve of a store back to the disk. @returns false when there is none */
export function spendReserve({ reserve }: StoreLayout): boolean {
  if (!fs.existsSync(reserve)) return false;
  inStore(reserve, () => fs.rmSync(reserve));
  return true;
}
