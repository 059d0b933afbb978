import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { type Run, runPakrat } from '../support/run-pakrat.ts';
import { type SyntheticCdn, syntheticCdn } from '../support/synthetic-cdn.ts';
import { describeTmpfs, withTmpfs } from '../support/tmpfs.ts';
import { withPakrat } from '../support/with-pakrat.ts';

// The built program, as a person would run it.
jest.setTimeout(60_000);

describeTmpfs('a store on a small disk', () => {
  describe('of a real size', () => {
    let cdn: SyntheticCdn;
    beforeAll(async () => {
      cdn = await syntheticCdn({ make: ['--files', '200', '--total-bytes', '8M'] });
    });
    afterAll(() => cdn.close());

    const sync = (store: string, ...more: string[]): Run =>
      runPakrat(['sync', 'wow', '--store', store, '--patch-url', cdn.url, '--json', ...more]);

    /** What it came to, for a message that says more than a number. */
    const outcome = ({ status, stdout, stderr }: Run): unknown => {
      const value = JSON.parse(stdout) as { error?: { code: string; hint: string }; missing?: unknown };
      return { status, code: value.error?.code, hint: value.error?.hint, missing: value.missing, stderr };
    };
    const full = {
      status: 1,
      code: 'E_STORE_FULL',
      hint: expect.stringContaining('Free some space'),
      missing: undefined,
      stderr: '',
    };
    const whole = { status: 0, code: undefined, hint: undefined, missing: { entries: 0, bytes: 0 }, stderr: '' };

    /** Syncs, and asks what is held then, in this process. */
    const syncHere = (store: string) =>
      withPakrat({ store, patchUrl: cdn.url }, async (pakrat) => {
        const { missing } = await pakrat.sync('wow');
        return { missing, builds: (await pakrat.status()).builds };
      });

    // Full while the first objects come, among the indices, and in the middle of the data; with threads and without.
    test.each([
      ['100k', []],
      ['500k', []],
      ['3m', []],
      ['5m', ['--limit-rate', '900M']],
    ])('of %s: ends with E_STORE_FULL, and goes on when there is room', async (size, flags) => {
      await withTmpfs(size, async (folder, resize) => {
        const store = `${folder}/store`;
        expect(outcome(sync(store, '--quiet', ...flags))).toEqual(full);
        // No room at all is left for a second try.
        await expect(syncHere(store)).rejects.toMatchObject({ code: full.code, hint: full.hint });
        resize('64m');
        const { missing, builds } = await syncHere(store);
        expect({ missing, builds }).toMatchObject({ missing: whole.missing, builds: [{ product: 'wow' }] });
      });
    });

    test('that may only be read: what is held can be listed and extracted; a sync says why not', async () => {
      await withTmpfs('64m', async (folder, _, remount) => {
        const store = `${folder}/store`;
        expect(outcome(sync(store, '--quiet'))).toEqual(whole);
        remount('ro');
        const reading = ['--store', store, '--offline', '--quiet'];
        expect(runPakrat(['status', ...reading])).toMatchObject({ status: 0, stderr: '' });
        expect(runPakrat(['ls', 'wow', '*.exe', ...reading])).toMatchObject({
          status: 0,
          stdout: expect.stringContaining('Wow.exe'),
          stderr: '',
        });
        const cat = runPakrat(['cat', 'wow', 'Wow.exe', ...reading]);
        expect([cat.status, cat.stdout.length > 10_000]).toEqual([0, true]);
        expect(outcome(sync(store, '--quiet'))).toMatchObject({ status: 1, code: 'E_STORE' });
      });
    });
  });
});
