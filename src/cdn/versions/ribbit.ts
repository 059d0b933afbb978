import { connect, type Socket } from 'node:net';
import { concatBytes } from '../../core/bytes.ts';
import { abortError, codeOf, messageOf, PakratError } from '../../core/errors.ts';
import { decodeRibbit } from '../../formats/services/ribbit-mime.ts';

/*
 * Ribbit v1, the version service over plain TCP (wowdev.wiki Ribbit):
 *
 *   client   v1/products/<product>/<endpoint>\r\n, or v1/summary\r\n
 *   server   a MIME message that ends in "Checksum: <SHA-256 of all before>\r\n", and closes
 *
 * A product that the service does not know gets no byte at all.
 */

/** The port of Ribbit, unless told otherwise. */
export const ribbitPort = 1119;

/** Answers are a few KiB; this is far more than the largest list of all products. */
const maxAnswerSize = 4 * 1024 * 1024;

/** One question to a Ribbit service. */
export interface RibbitQuestion {
  host: string;
  port: number;
  product: string;
  /** `versions`, `cdns` or `bgdl`; `summary` for the list of all products. */
  endpoint: string;
  /** Milliseconds for the whole answer. */
  timeoutMs: number;
  signal?: AbortSignal | undefined;
}

/**
 * Asks a Ribbit service and gives back the data part of its answer, whose checksum was right.
 * @throws E_NOT_FOUND when the answer is empty, E_FORMAT… when it is no whole answer or its checksum is wrong,
 *   E_NETWORK, E_NETWORK_TIMEOUT, E_ABORTED, E_USAGE for a product or endpoint that cannot be one
 */
export async function queryRibbit(question: RibbitQuestion): Promise<Uint8Array> {
  const { product, endpoint } = question;
  // A line break in either would be a second command.
  const subject = endpoint === 'summary' ? endpoint : `products/${product}/${endpoint}`;
  if (!/^(summary|products\/[\w.-]+\/[\w.-]+)$/.test(subject)) {
    throw new PakratError('E_USAGE', `${JSON.stringify(subject)} cannot be asked of a Ribbit service`);
  }
  const answer = await converse(question, `v1/${subject}\r\n`);
  if (answer.length === 0) {
    throw new PakratError(
      'E_NOT_FOUND',
      `${nameOf(question)}: an empty answer, which means that it does not know that`,
    );
  }
  return decodeRibbit(answer).data;
}

/** Sends one line and reads until the other side closes. */
function converse(question: RibbitQuestion, line: string): Promise<Uint8Array> {
  const { host, port, timeoutMs, signal } = question;
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(abortError());
    const socket: Socket = connect({ host, port });
    const pieces: Uint8Array[] = [];
    let size = 0;
    const fail = (error: unknown): void => end(() => reject(error));
    const onAbort = (): void => fail(abortError());
    const timer = setTimeout(() => fail(timeoutError(question)), timeoutMs);
    const end = (report: () => void): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
      socket.destroy();
      report();
    };
    signal?.addEventListener('abort', onAbort, { once: true });
    socket.on('connect', () => socket.write(line));
    socket.on('data', (piece: Buffer) => {
      size += piece.length;
      if (size > maxAnswerSize) fail(networkError(question, `an answer of more than ${maxAnswerSize} bytes`));
      else pieces.push(piece);
    });
    socket.on('end', () => end(() => resolve(concatBytes(pieces))));
    socket.on('error', (error) =>
      fail(networkError(question, messageOf(error) || (codeOf(error) ?? 'no answer'), error)),
    );
  });
}

function nameOf(question: RibbitQuestion): string {
  return `ribbit://${question.host}:${question.port}`;
}

function networkError(question: RibbitQuestion, problem: string, cause?: unknown): PakratError {
  const url = nameOf(question);
  return new PakratError('E_NETWORK', `${url}: ${problem}`, { data: { url, reason: codeOf(cause) }, cause });
}

function timeoutError(question: RibbitQuestion): PakratError {
  const url = nameOf(question);
  return new PakratError('E_NETWORK_TIMEOUT', `${url}: no answer within ${question.timeoutMs} ms`, { data: { url } });
}
