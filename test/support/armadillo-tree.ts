import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { conformanceTool } from './conformance.ts';
import { makeTree } from './synthetic-cdn.ts';

/** Name of the key that {@link makeEncryptedTree} encrypts with, as its product config has it. */
export const treeKeyName = 'TestKey';
const key = Buffer.from('8b1f20d9c64e5a7730f2aa190354ee6d', 'hex');

/** Makes a tree as `makeTree` does, every object of which is encrypted with another program's cipher. */
export function makeEncryptedTree(root: string, port: number, make: readonly string[]): void {
  makeTree(root, port, make);
  const script = resolve('test/support/encrypt-tree.py');
  const args = [script, conformanceTool('gencdn.py'), root, 'tpr/wow', treeKeyName, key.toString('hex')];
  const made = spawnSync('python3', args);
  if (made.status !== 0) throw new Error(`encrypt-tree.py: ${made.stderr}`);
}

/** Writes the key file of the tree. */
export function writeTreeKey(path: string): void {
  writeFileSync(path, Buffer.concat([key, createHash('md5').update(key).digest().subarray(0, 4)]));
}
