import * as fs from 'node:fs';
import { expect, test } from '@jest/globals';
import { codeOf } from '../../src/core/errors.ts';
import type { ObjectName } from '../../src/store/layout.ts';
import { lockStore } from '../../src/store/ledger/sqlite.ts';
import { openStore, type Store } from '../../src/store/store.ts';
import { scratchFolder } from '../support/scratch.ts';
import { describeTmpfs, withTmpfs } from '../support/tmpfs.ts';

const scratch = scratchFolder();
const bytes = new TextEncoder().encode('a config');
const name: ObjectName = { cdnPath: 'tpr/wow', kind: 'config', hash: '0123456789abcdef0123456789abcdef' };
const path = 'tpr/wow/config/01/23/0123456789abcdef0123456789abcdef';

async function withStore<Result>(
  root: string,
  create: boolean,
  body: (store: Store) => Result | Promise<Result>,
): Promise<Result> {
  const store = openStore(root, { create });
  try {
    return await body(store);
  } finally {
    store.close();
  }
}

test('a store is only made when asked, with all folders above it', async () => {
  const root = scratch('a', 'b', 'store');
  expect(() => openStore(root, { create: false })).toThrow(
    expect.objectContaining({ code: 'E_NOT_FOUND', hint: expect.stringContaining('sync') }),
  );
  expect(fs.existsSync(scratch('a'))).toBe(false);
  await withStore(root, true, () => {});
  await withStore(root, false, (store) => expect(store.layout.root).toBe(root));
});

test('an object is there when it was added, byte for byte where the CDN has it', async () => {
  const root = scratch('objects');
  await withStore(root, true, async (store) => {
    expect(store.readObject(name)).toBeUndefined();
    await store.addObjects([{ name, bytes }]);
    expect(store.ledger.completeSize(path)).toBe(bytes.length);
    expect(fs.readFileSync(store.file(path))).toEqual(Buffer.from(bytes));
  });
  await withStore(root, false, (store) => expect(store.readObject(name)).toEqual(bytes));
  expect(fs.readdirSync(`${root}/tmp`)).toEqual([]);
});

test('a file that the ledger does not know is not held; one that is gone is not either', async () => {
  await withStore(scratch('unknown'), true, async (store) => {
    fs.mkdirSync(scratch('unknown', 'tpr/wow/config/01/23'), { recursive: true });
    fs.writeFileSync(store.files.inPlace(path), bytes);
    expect(store.readObject(name)).toBeUndefined();
    await store.addObjects([{ name, bytes }]);
    fs.rmSync(store.file(path));
    expect(store.readObject(name)).toBeUndefined();
  });
});

test('a folder that is a file is trouble with the store', () => {
  fs.writeFileSync(scratch('file'), '');
  expect(() => openStore(scratch('file'), { create: true })).toThrow(
    expect.objectContaining({ code: 'E_STORE', message: expect.stringMatching(/no folder/), hint: expect.any(String) }),
  );
  try {
    openStore(scratch('file', 'store'), { create: true });
    throw new Error('it opened');
  } catch (error) {
    expect(codeOf(error)).toBe('E_STORE');
  }
});

describeTmpfs('a disk that may not be written', () => {
  test('its store can be read, and says no to writing', async () => {
    await withTmpfs('8m', async (folder, _, remount) => {
      const root = `${folder}/store`;
      await withStore(root, true, async (store) => {
        await store.addObjects([{ name, bytes }]);
        store.ledger.addSpans('a', [{ start: 5, end: 9 }]);
      });
      remount('ro');
      await withStore(root, false, async (store) => {
        expect(store.readObject(name)).toEqual(bytes);
        expect(store.ledger.spans('a')).toEqual([{ start: 5, end: 9 }]);
        const other = { name: { ...name, hash: 'f'.repeat(32) }, bytes };
        await expect(store.addObjects([other])).rejects.toEqual(expect.objectContaining({ code: 'E_STORE' }));
        expect(() => store.ledger.setSetting('a', 'b')).toThrow(expect.objectContaining({ code: 'E_STORE' }));
        const message = `no permission to write ${store.layout.lock}`;
        expect(() => lockStore(store.layout.lock)).toThrow(expect.objectContaining({ code: 'E_STORE', message }));
      });
      remount('rw');
      await withStore(root, false, (store) => store.ledger.setSetting('a', 'b'));
    });
  });

  test('a store that was killed there can be read as well', async () => {
    await withTmpfs('8m', async (folder, _, remount) => {
      const root = `${folder}/store`;
      await withStore(root, true, async (store) => {
        await store.addObjects([{ name, bytes }]);
        // As after a kill: the log lies beside the ledger.
        fs.cpSync(root, `${folder}/killed`, { recursive: true });
      });
      expect(fs.existsSync(`${folder}/killed/ledger.db-wal`)).toBe(true);
      remount('ro');
      await withStore(`${folder}/killed`, false, (store) => expect(store.readObject(name)).toEqual(bytes));
    });
  });
});

describeTmpfs('a disk that is full', () => {
  test('is told as such, by files and by the ledger, and what was there stays', async () => {
    await withTmpfs('1m', async (folder, resize) => {
      await withStore(`${folder}/store`, true, async (store) => {
        await store.addObjects([{ name, bytes }]);
        const big = new Uint8Array(300_000);
        const full = expect.objectContaining({ code: 'E_STORE_FULL', hint: expect.any(String) });
        const fill = async (): Promise<void> => {
          for (let i = 0; i < 10; i++)
            await store.addObjects([{ name: { ...name, hash: `${i}`.repeat(32) }, bytes: big }]);
        };
        await expect(fill()).rejects.toEqual(full);
        fs.writeFileSync(`${folder}/ballast`, '');
        try {
          for (let i = 0; i < 2000; i++) fs.appendFileSync(`${folder}/ballast`, Buffer.alloc(1024));
        } catch (error) {
          expect(codeOf(error)).toBe('ENOSPC');
        }
        const write = (): void => {
          for (let i = 0; i < 500; i++) {
            store.ledger.transaction(() => store.ledger.setSetting(`name ${i}`, 'x'.repeat(4000)));
          }
        };
        expect(write).toThrow(full);
        expect(store.readObject(name)).toEqual(bytes);
        resize('16m');
        await fill();
        write();
      });
      await withStore(`${folder}/store`, false, (store) => {
        expect(store.readObject(name)).toEqual(bytes);
        expect(store.ledger.setting('name 499')).toHaveLength(4000);
      });
    });
  });
});
