import { expect, test } from '@jest/globals';
import { type EncodeAnswer, type EncodeTask, runEncodeTask } from '../../../src/publish/encode/encode-task.ts';
import { Encoder } from '../../../src/publish/encode/encoder.ts';
import { builtModule, threadProgram } from '../../support/built-module.ts';
import { randomSource } from '../../support/hostile.ts';
import { scratchFolder } from '../../support/scratch.ts';

const scratch = scratchFolder();
const built = builtModule('src/publish/encode/encode-worker.ts');
const especs = ['b:{256K*=z}', 'b:{256K*=n}'];

function threads(name: string): Encoder {
  return new Encoder({ threads: 2, workerUrl: threadProgram(scratch(name), 'encode-worker', built) });
}

/** More than is encoded without threads, of all sizes, and parts of larger buffers. */
function tasks(): EncodeTask[] {
  const random = randomSource(8);
  const whole = Uint8Array.from({ length: 1 << 21 }, (_, i) => (i % 5000 < 2500 ? random() * 256 : 97 + (i % 13)));
  return Array.from({ length: 700 }, (_, i): EncodeTask => {
    const size = i % 50 === 0 ? 400_000 : Math.floor(random() * 9000);
    const start = Math.floor(random() * (whole.length - size));
    const content = whole.subarray(start, start + size);
    if (i % 7 === 0) return { kind: 'chunk', content, isOwn: false, espec: 'z', index: i };
    return i === 333 ? { kind: 'object', content, especs: ['c:{4,bc7}'] } : { kind: 'object', content, especs };
  });
}

test('many contents, sent to threads together, become what each becomes alone', async () => {
  const encoder = threads('together');
  try {
    const all = tasks();
    const made = await Promise.allSettled(all.map((task) => encoder.run(task)));
    for (const [i, one] of made.entries()) {
      if (i === 333) expect(one).toMatchObject({ status: 'rejected', reason: { code: 'E_UNSUPPORTED' } });
      else {
        const { bytes, espec } = runEncodeTask(all[i]!);
        const { value } = one as PromiseFulfilledResult<EncodeAnswer>;
        expect([value.espec, Buffer.compare(value.bytes, bytes)]).toEqual([espec, 0]);
      }
    }
  } finally {
    await encoder.end();
  }
});

test('what waits when it is ended fails, and waits no longer', async () => {
  const encoder = threads('ended');
  const made = Promise.allSettled(tasks().map((task) => encoder.run(task)));
  await encoder.end();
  expect((await made).filter(({ status }) => status === 'rejected').length).toBeGreaterThan(500);
  await expect(encoder.run(tasks()[0]!)).rejects.toMatchObject({ code: 'E_ABORTED' });
});
