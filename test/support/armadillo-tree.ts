import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { salsa20 } from '@noble/ciphers/salsa.js';
import { conformanceTool } from './conformance.ts';
import { hasGenerator, makeTree } from './synthetic-cdn.ts';

/** Name of the key that {@link makeEncryptedTree} encrypts with, as its product config has it. */
export const treeKeyName = 'TestKey';
const key = Buffer.from('8b1f20d9c64e5a7730f2aa190354ee6d', 'hex');

/** Makes a tree as `makeTree` does, every object of which is encrypted, with another program's cipher where that is there. */
export function makeEncryptedTree(root: string, port: number, make: readonly string[]): void {
  makeTree(root, port, make);
  if (!hasGenerator) {
    encryptTree(join(root, 'www'));
    return;
  }
  const script = resolve('test/support/encrypt-tree.py');
  const args = [script, conformanceTool('gencdn.py'), root, 'tpr/wow', treeKeyName, key.toString('hex')];
  const made = spawnSync('python3', args);
  if (made.status !== 0) throw new Error(`encrypt-tree.py: ${made.stderr}`);
}

/** Does what encrypt-tree.py does. */
function encryptTree(www: string): void {
  for (const file of filesBelow(join(www, 'tpr/wow'))) {
    const nonce = Buffer.from(basename(file).slice(0, 32), 'hex').subarray(8);
    writeFileSync(file, salsa20(key, nonce, new Uint8Array(readFileSync(file))));
  }
  const renamed = filesBelow(join(www, 'tpr/configs')).map((file) => [basename(file), nameKey(www, file)] as const);
  for (const file of filesBelow(www).filter((path) => basename(path) === 'versions')) {
    const text = readFileSync(file, 'utf8');
    writeFileSync(
      file,
      renamed.reduce((changed, [old, name]) => changed.replaceAll(old, name), text),
    );
  }
}

/** Puts the name of the key into a product config. @returns the config's new name */
function nameKey(www: string, file: string): string {
  const config = JSON.parse(readFileSync(file, 'utf8'));
  config.all.config.decryption_key_name = treeKeyName;
  const text = JSON.stringify(config);
  const name = createHash('md5').update(text).digest('hex');
  const path = join(www, 'tpr/configs/data', name.slice(0, 2), name.slice(2, 4), name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  return name;
}

function filesBelow(folder: string): string[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}

/** Writes the key file of the tree. */
export function writeTreeKey(path: string): void {
  writeFileSync(path, Buffer.concat([key, createHash('md5').update(key).digest().subarray(0, 4)]));
}
