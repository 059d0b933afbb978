import type { HttpGetter } from '../../cdn/transport/http.ts';
import { checkRangeHead } from '../../cdn/transport/http-head.ts';
import type { RateLimit } from '../../cdn/transport/rate-limit.ts';
import { codeOf, type ErrorData, isStoreTrouble, messageOf, PakratError } from '../../core/errors.ts';
import { storeError } from '../../files/durable.ts';
import type { Span } from '../../store/spans.ts';
import type { HashBuffer } from '../../verify/hash-buffer.ts';
import type { SmallEntries } from '../../verify/small-entries.ts';
import type { RangeResult } from './range-job.ts';
import { cryptOf, RangeReceiver } from './range-receiver.ts';
import type { PackedJob } from './range-targets.ts';
import { SpanWriter } from './span-writer.ts';

/** The client, memory and limits that a range is fetched with, and callbacks for what comes of it. */
export interface RangeTools {
  http: HttpGetter;
  rate: RateLimit;
  /** Memory in which bytes wait for their hash. */
  buffer: HashBuffer;
  /** Absent: small entries go the way of large ones. */
  small?: SmallEntries | undefined;
  /** Folder for temporary files. */
  temporary: string;
  /** Largest single range to ask for. */
  maxRangeBytes: number;
  /** Called with spans of the object that are verified and on disk. */
  onSpans: (spans: Span[]) => void;
  onReceived: (bytes: number) => void;
  onRequest: () => void;
}

/**
 * Fetches one range from one host: each entry in it is checked as it arrives, right bytes are written and flushed,
 * a wrong entry is passed over. Never throws for what the host did: the result says how far each entry came.
 */
export async function fetchRange(
  job: PackedJob,
  base: string,
  tools: RangeTools & { signal?: AbortSignal | undefined },
): Promise<RangeResult> {
  const writer = new SpanWriter(job, tools.temporary, tools.onSpans);
  let receiver: RangeReceiver | undefined;
  let errors: unknown[] = [];
  try {
    receiver = new RangeReceiver(job, writer, { buffer: tools.buffer, small: tools.small, crypt: await cryptOf(job) });
    await receiveRanges(job, `${base}/${job.path}`, { ...tools, receiver });
  } catch (error) {
    errors.push(error);
  }
  try {
    receiver?.close();
  } catch (error) {
    errors.unshift(error);
  }
  if (receiver?.problem !== undefined) errors.unshift(receiver.problem);
  await writer.finish().catch((error) => errors.unshift(error));
  errors = errors.map((error) => storeError(error, job.file));
  const trouble = errors.find(isStoreTrouble);
  return {
    // Bytes that are not on disk are not verified, however right they were.
    verified: trouble === undefined && receiver !== undefined ? receiver.verified() : heldOf(job),
    wrongBytes: receiver?.wrongBytes ?? 0,
    rangeServed: receiver?.rangeServed === true,
    error: plainError(trouble ?? errors[0]),
  };
}

/** For each entry the bytes from its start that were there before. */
function heldOf({ targets }: PackedJob): Float64Array {
  return Float64Array.from({ length: targets.length }, (_, index) => targets.held(index));
}

async function receiveRanges(
  job: PackedJob,
  url: string,
  tools: RangeTools & { receiver: RangeReceiver; signal?: AbortSignal | undefined },
): Promise<void> {
  const { receiver } = tools;
  for (let at = receiver.start; at < job.end; ) {
    const range = { start: at, end: Math.min(at + tools.maxRangeBytes, job.end) };
    let position = at;
    let bodyEnd = range.end;
    tools.onRequest();
    try {
      await tools.http.get({
        url,
        range,
        hasAlternatives: job.hasAlternatives,
        signal: tools.signal,
        onHead: (head) => {
          position = checkRangeHead(head, range, { url, allowWhole: job.allowWhole === true });
          if (head.status === 206) receiver.rangeServed = true;
          if (head.status === 200) bodyEnd = Number(head.headers['content-length'] ?? Number.POSITIVE_INFINITY);
        },
        onData: (piece) => {
          tools.onReceived(piece.length);
          receiver.push(position, piece);
          position += piece.length;
          if (receiver.finished && position < bodyEnd) throw finishedEarly;
          if (position > bodyEnd) throw new PakratError('E_NETWORK_RANGE', `${url}: more bytes than asked`);
          return tools.rate.take(piece.length);
        },
      });
    } catch (error) {
      if (error === finishedEarly) return;
      throw error;
    }
    if (position < range.end)
      throw new PakratError('E_NETWORK', `${url}: the answer ended ${range.end - position} bytes early`);
    at = position;
  }
}

/** Thrown to leave an answer that goes on behind the last entry wanted. Carries a code of ours so that it passes untouched. */
const finishedEarly = new PakratError('E_ABORTED', 'all entries of the range are here');

function plainError(error: unknown): RangeResult['error'] {
  if (error === undefined) return undefined;
  const { data = {}, hint } = error as { data?: ErrorData; hint?: string };
  return { code: codeOf(error) ?? 'E_BUG', message: messageOf(error), hint, data };
}
