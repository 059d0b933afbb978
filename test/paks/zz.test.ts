import { test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { conformancePath } from '../support/conformance.ts';
import { openPakFile, openPak } from '../../src/paks/index.ts';
import { bytesSource } from '../../src/core/byte-source.ts';
import { writeUnrealPak } from '../../src/paks/unreal/write.ts';
test('x', async () => {
  const key = Buffer.from('lNJbw660IOC+kU7cnVQ1oeqrXyhk4J6UAZrCBbcnp94=', 'base64');
  const cases: any[] = [
   ['repak/pack_v5.pak', {version:5}], ['repak/pack_v7.pak', {version:7}],['repak/pack_v8a.pak', {version:'8A'}],['repak/pack_v8b.pak', {version:8}],['repak/pack_v9.pak', {version:9}],['repak/pack_v11.pak', {version:11}],
   ['repak/pack_v8b_encrypt.pak', {version:8,key}],['repak/pack_v8b_encryptindex.pak', {version:8,key,encryptIndex:true,encryptData:false}],['repak/pack_v11_encrypt.pak', {version:11,key}],['repak/pack_v11_encryptindex.pak', {version:11,key,encryptIndex:true,encryptData:false}],
   ['repak/pack_v8b_compress.pak', {version:8,compress:'zlib'}], ['repak/pack_v8b_compress_encrypt_encryptindex.pak', {version:8,compress:'zlib',key,encryptIndex:true}],
   ['repak/pack_v5_compress_encrypt_encryptindex.pak', {version:5,compress:'zlib',key,encryptIndex:true}],
   ['u4pak/u4pak_v1.pak', {version:1}],['u4pak/u4pak_v3.pak', {version:3}],['u4pak/u4pak_v3_zlib.pak', {version:3,compress:'zlib'}],
  ];
  for (const [name, options] of cases) {
    const want = new Uint8Array(readFileSync(conformancePath('pak/unreal', name)));
    const pak: any = await openPakFile(conformancePath('pak/unreal', name), { keys: [key] });
    const files = [];
    for (const e of pak.entries) { const parts: Uint8Array[] = []; for await (const p of pak.read(e)) parts.push(p); const b = Buffer.concat(parts); files.push({name:e.name,size:e.size,mtime:e.mtime,open: async function*(){yield b}}); }
    const got: Uint8Array[] = [];
    const r = await writeUnrealPak(files.reverse(), {write: async b => {got.push(b.slice())}}, {...options, mountPoint: pak.facts.mountPoint, pathHashSeed: BigInt(pak.facts.pathHashSeed ?? 0)});
    const made = new Uint8Array(Buffer.concat(got));
    let diff = -1; for (let i=0;i<Math.max(made.length,want.length);i++) if (made[i]!==want[i]) {diff=i;break}
    let n=0; for (let i=0;i<Math.max(made.length,want.length);i++) if (made[i]!==want[i]) n++;
    console.log(name, made.length, want.length, 'first diff', diff, 'count', n, r);
    const again = await openPak(bytesSource(made), {keys:[key]});
    for (const e of again.entries) { if (await again.verify(e)) console.log('BAD', e.name, await again.verify(e)); for await (const _ of again.read(e)); }
  }
});
