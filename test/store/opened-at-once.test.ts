import { expect, jest, test } from '@jest/globals';
import { builtModule } from '../support/built-module.ts';
import { runInChild } from '../support/child.ts';
import { scratchFolder } from '../support/scratch.ts';

jest.setTimeout(60_000);
const scratch = scratchFolder();
const kinds = [
  ['Claims', builtModule('src/store/claims.ts')],
  ['Ledger', builtModule('src/store/ledger/ledger.ts')],
] as const;
const processes = 4;
const rounds = 100;
const roundMs = 15;

// Of new databases some hundred are opened, each by all processes in the same millisecond: SQLite gives up at once in a few of a hundred.
test.each(kinds)('%s that several processes make at the same time is opened by each', async (name, module) => {
  const start = Date.now() + 2000;
  const opener = `
    const { ${name} } = await import(${JSON.stringify(module)});
    const failed = [];
    const sleeper = new Int32Array(new SharedArrayBuffer(4));
    for (let round = 0; round < ${rounds}; round++) {
      const moment = ${start} + round * ${roundMs};
      Atomics.wait(sleeper, 0, 0, Math.max(0, moment - Date.now() - 2));
      while (Date.now() < moment);
      try {
        new ${name}(${JSON.stringify(scratch(name))} + round).close();
      } catch (error) {
        failed.push(String(error));
      }
    }
    console.log(failed.length === 0 ? 'well' : failed[0]);
  `;
  const children = Array.from({ length: processes }, () => runInChild(opener));
  const outcomes = await Promise.allSettled(children.map((child) => child.says('well')));
  expect(outcomes.map(({ status }) => status)).toEqual(children.map(() => 'fulfilled'));
});
