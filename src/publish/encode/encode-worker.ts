/* A thread that encodes what it is sent. */
import { parentPort } from 'node:worker_threads';
import { codeOf, messageOf } from '../../core/errors.ts';
import { type EncodeTask, runEncodeTask } from './encode-task.ts';
import type { EncodeReply } from './encoder.ts';

const port = parentPort;
if (port === null) throw new Error('this is the program of a thread');

port.on('message', (task: EncodeTask) => {
  const reply = (message: EncodeReply, moved: ArrayBuffer[] = []): void => port.postMessage(message, moved);
  try {
    const done = runEncodeTask(task);
    // A view of a larger buffer would take all of that along.
    const bytes = done.bytes.byteLength === done.bytes.buffer.byteLength ? done.bytes : done.bytes.slice();
    reply({ done: { ...done, bytes } }, [bytes.buffer as ArrayBuffer]);
  } catch (error) {
    reply({ error: { code: codeOf(error), message: messageOf(error) } });
  }
});
