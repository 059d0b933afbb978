/* A thread that decodes files of a build and hands their contents back. */
import type { EncodedFile } from '../../../builds/encoded-files.ts';
import { checkpoint, serveOrders } from '../../../threads/serve-orders.ts';
import { type DecodedBatch, decodeRunner } from './decode-tasks.ts';
import { type ToldKey, ToldKeys } from './told-keys.ts';

const keys = new ToldKeys();

serveOrders<undefined, EncodedFile, DecodedBatch>({
  async begin() {
    return decodeRunner({ keys, checkpoint });
  },
  memoryOf: ({ bytes }) => [bytes.buffer],
  hear: (told) => keys.hear(told as ToldKey),
});
