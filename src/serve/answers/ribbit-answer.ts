import { encodeRibbit } from '../../formats/services/ribbit-mime.ts';
import type { Answers } from './answers.ts';

/**
 * The answer to a line of Ribbit: of v1 in MIME with its checksum, of v2 the plain table.
 * @returns undefined for what the server does not have: such a question gets no byte
 */
export function ribbitAnswer(answers: Answers, line: string): Uint8Array | undefined {
  const [, version, product, endpoint] =
    /^v([12])\/(?:summary|products\/([\w.-]{1,100})\/([\w.-]{1,100}))$/.exec(line) ?? [];
  if (version === undefined) return undefined;
  const data = product === undefined || endpoint === undefined ? answers.summary() : answers.table(product, endpoint);
  if (data === undefined || version === '2') return data;
  return encodeRibbit({ data, disposition: endpoint ?? 'summary' });
}
