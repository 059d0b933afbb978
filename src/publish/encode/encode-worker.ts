/* A thread that encodes what it is sent. */
import { parentPort } from 'node:worker_threads';
import { codeOf, messageOf } from '../../core/errors.ts';
import { type EncodeTask, runEncodeTask } from './encode-task.ts';
import type { EncodeReply } from './encoder.ts';
import { joined, transferOf } from './joined.ts';

const port = parentPort;
if (port === null) throw new Error('this is the program of a thread');

port.on('message', (tasks: EncodeTask[]) => {
  const replies = tasks.map(replyTo);
  const bytes = joined(
    replies.map((reply) => ('done' in reply ? reply.done.bytes : noBytes)),
    true,
  );
  const sent = replies.map((reply, i) => ('done' in reply ? { done: { ...reply.done, bytes: bytes[i] } } : reply));
  port.postMessage(sent, transferOf(bytes));
});

const noBytes = new Uint8Array(0);

function replyTo(task: EncodeTask): EncodeReply {
  try {
    return { done: runEncodeTask(task) };
  } catch (error) {
    return { error: { code: codeOf(error), message: messageOf(error) } };
  }
}
