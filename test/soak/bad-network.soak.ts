import { join } from 'node:path';
import { beforeAll, describe, expect, jest, test } from '@jest/globals';
import { checkHeldBytes } from '../support/held-bytes.ts';
import { freePort } from '../support/loopback.ts';
import { pakratJson } from '../support/run-pakrat.ts';
import { scratchFolder } from '../support/scratch.ts';
import { makeTree, serveTree } from '../support/synthetic-cdn.ts';

/* One host that is bad in a random way, over and over: rare turns of events that three runs do not show. */

jest.setTimeout(20 * 60_000);
const scratch = scratchFolder();
const runsAtMost = 6;

describe('a bad network, forty times', () => {
  const root = scratch('tree');
  let port: number;

  beforeAll(async () => {
    port = await freePort();
    makeTree(root, port, ['--files', '300', '--total-bytes', '8M', '--seed', 'bad-network']);
  });

  test.each([
    ['answers 503, cuts and changes bytes', ['--fail', '0.1', '--cut', '0.1', '--flip', '0.05']],
    ['knows no ranges, cuts and changes bytes', ['--no-range', '--cut', '0.1', '--flip', '0.05']],
  ])('%s: each sync ends right, or exits 9 and ends right when run again', async (title, badness) => {
    const strange: string[] = [];
    const first = Date.now();
    for (let seed = first; seed < first + 40; seed++) {
      const server = await serveTree(root, [...badness, '--seed', String(seed)], port);
      const store = scratch(`${title.length}-${seed}`);
      let status: number | null = 9;
      for (let run = 1; status === 9 && run <= runsAtMost; run++) {
        const { value, ...ended } = await pakratJson(['sync', 'wow', '--store', store, '--patch-url', server.url]);
        status = ended.status;
        if (status !== 0 && status !== 9)
          strange.push(`seed ${seed}, run ${run}: exit ${status} ${JSON.stringify(value)}`);
        strange.push(...checkHeldBytes(store, join(root, 'www')).wrong.map((line) => `seed ${seed}: ${line}`));
      }
      if (status === 9) strange.push(`seed ${seed}: not done after ${runsAtMost} runs`);
      await server.close();
    }
    expect(strange).toEqual([]);
  });
});
