import { spawnSync } from 'node:child_process';
import { dirname } from 'node:path';
import { fromHex } from '../../../src/core/bytes.ts';
import type { KeyRing } from '../../../src/formats/blte/keys.ts';
import { conformanceTool } from '../../support/conformance.ts';

/** An object that an encoder made which shares no code with ours. */
export interface ForeignBlte {
  how: string;
  content: Uint8Array;
  bytes: Uint8Array;
  ekey: string;
  espec: string;
}

/** The key of the encrypted ones, by its printed name. */
export const foreignKey = { name: 'fa505078126acb3e', key: 'bdc51862abed79b2de48c8e7e66c6200' };
export const foreignKeys: KeyRing = {
  find: (name) => (name === foreignKey.name ? fromHex(foreignKey.key) : undefined),
};

const script = `
import base64, json, sys
sys.path.insert(0, sys.argv[1])
import gencdn
key = (bytes.fromhex(sys.argv[2]), bytes.fromhex(sys.argv[3]))
b64 = lambda b: base64.b64encode(b).decode()
out = []
for how in ('n', 'z', 'bz', 'bn', 'mix', 'ez', 'en'):
    for kind, size in (('t', 0), ('t', 1), ('r', 5000), ('t', 150000), ('c', 700000)):
        if how in ('mix', 'en') and size < 10: continue
        # Its cipher is slow; this is still three blocks of 64 KiB.
        if how[0] == 'e': size = min(size, 140000)
        data = gencdn.content('1', how, 1, size, kind)
        for iv in ('01020304',) if how[0] != 'e' else ('01020304', 'a1b2c3d4e5f60718'):
            blob, ekey, espec = gencdn.encode(data, how, key, bytes.fromhex(iv))
            out.append({'how': how, 'content': b64(data), 'bytes': b64(blob), 'ekey': ekey.hex(), 'espec': espec})
print(json.dumps(out))
`;

/** Objects of every kind that gencdn.py can make. Throws when Python is not there. */
export function foreignBltes(): ForeignBlte[] {
  const args = ['-c', script, dirname(conformanceTool('gencdn.py')), foreignKey.name, foreignKey.key];
  const run = spawnSync('python3', args, {
    encoding: 'utf8',
    maxBuffer: 1 << 28,
    env: { ...process.env, PYTHONDONTWRITEBYTECODE: '1' },
  });
  if (run.status !== 0) throw new Error(`python3 with gencdn.py: ${run.error ?? run.stderr}`);
  const decoded = (value: string) => new Uint8Array(Buffer.from(value, 'base64'));
  return (JSON.parse(run.stdout) as Record<string, string>[]).map(
    ({ how = '', content = '', bytes = '', ekey = '', espec = '' }) => ({
      how,
      content: decoded(content),
      bytes: decoded(bytes),
      ekey,
      espec,
    }),
  );
}

/** A key name as it lies in a chunk and in a spec. */
export function wireName(name: string): string {
  return Buffer.from(name, 'hex').reverse().toString('hex');
}
