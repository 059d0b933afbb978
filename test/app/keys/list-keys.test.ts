import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { expect, test } from '@jest/globals';
import { listKeys } from '../../../src/app/keys/list-keys.ts';
import { Session } from '../../../src/app/session/session.ts';
import { md5Hex } from '../../../src/core/hash.ts';
import { encodeKeyRing } from '../../../src/formats/configs/key-list.ts';
import { objectPath } from '../../../src/store/layout.ts';
import { scratchFolder } from '../../support/scratch.ts';

const scratch = scratchFolder();

test('the keys of a key ring that is held are listed beside those that were imported; those of a damaged one are not', async () => {
  const session = new Session({ store: scratch('store') });
  const { ledger, file } = await session.store({ create: true });
  const [mine, own] = ['0000000000000001', 'fa505078126acb3e'];
  ledger.addKeys([{ name: mine, key: 'aa'.repeat(16), extra: '', source: 'mine.txt' }]);
  const bytes = encodeKeyRing([{ name: own, key: 'bb'.repeat(16) }]);
  const keyRing = md5Hex(bytes);
  const build = {
    product: 'wow',
    name: '1.0.0.1',
    buildId: '1',
    buildConfig: 'a'.repeat(32),
    cdnConfig: 'b'.repeat(32),
    productConfig: null,
    keyRing,
    region: 'us',
    cdnPath: 'tpr/wow',
    configPath: 'tpr/configs',
    hosts: [],
  };
  ledger.addBuild(build);
  ledger.addBuild({ ...build, buildConfig: 'c'.repeat(32), name: '1.0.0.2' });
  const path = file(objectPath({ cdnPath: 'tpr/wow', kind: 'config', hash: keyRing }));
  const imported = { name: mine, key: 'aa'.repeat(16), source: 'mine.txt' };
  const list = () => listKeys(session, { show: true });
  try {
    expect(await list()).toEqual([imported]);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, bytes);
    // Builds that share a ring have it once.
    const ofRing = {
      name: own,
      key: 'bb'.repeat(16),
      source: expect.stringMatching(/^key ring of wow@1\.0\.0\.[12]$/),
    };
    expect(await list()).toEqual([imported, ofRing]);
    expect((await listKeys(session)).map(({ key }) => key)).toEqual(['aaaa…', 'bbbb…']);
    writeFileSync(path, encodeKeyRing([{ name: own, key: 'cc'.repeat(16) }]));
    expect(await list()).toEqual([imported]);
  } finally {
    await session.close();
  }
});
