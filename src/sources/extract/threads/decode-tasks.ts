import type { EncodedFile } from '../../../builds/encoded-files.ts';
import type { KeyRing } from '../../../formats/blte/keys.ts';
import { decodeWhole, OpenedFiles, type PutBack, putBackFor } from './decode-alone.ts';
import { ManyDecoder } from './decode-many.ts';
import { Workroom } from './workroom.ts';

/** The content of a file, or that the thread put it back: whoever asked for it reads it in the one way that knows what to do about the reason. */
export type DecodeResult = Uint8Array | PutBack;

/** The results of a batch as they travel: contents one behind the other, and of each file the size of its own, or that it was put back. */
export interface DecodedBatch {
  bytes: Uint8Array<ArrayBuffer>;
  outcomes: (number | PutBack)[];
}

/** The results of a batch, in the order of its tasks. */
export function resultsOf({ bytes, outcomes }: DecodedBatch): DecodeResult[] {
  let end = 0;
  return outcomes.map((outcome) => {
    if (typeof outcome !== 'number') return outcome;
    end += outcome;
    return bytes.subarray(end - outcome, end);
  });
}

/** Decodes batches of small files. Throws only what ends the job: E_ABORTED. @param checkpoint called between files; what it throws ends the job */
export function decodeRunner({
  keys,
  checkpoint,
}: {
  keys: KeyRing;
  checkpoint: () => void;
}): (tasks: EncodedFile[]) => Promise<DecodedBatch> {
  const decoder = new ManyDecoder(new Workroom(), keys);
  return async (tasks) => {
    const bytes = new Uint8Array(tasks.reduce((sum, { size }) => sum + size, 0));
    const outcomes: DecodedBatch['outcomes'] = [];
    const files = new OpenedFiles();
    let end = 0;
    try {
      for (const { task, content } of decoder.decode(tasks, (file) => files.open(file))) {
        checkpoint();
        try {
          const whole = content ?? decodeWhole(task, keys, files);
          bytes.set(whole, end);
          end += whole.length;
          outcomes.push(whole.length);
        } catch (error) {
          outcomes.push(putBackFor(error));
        }
      }
      return { bytes, outcomes };
    } finally {
      files.close();
    }
  };
}
