import type { VersionAnswer, VersionServices } from '../../cdn/versions/version-service.ts';
import { codeOf, PakratError } from '../../core/errors.ts';
import { decodeBpsv } from '../../formats/services/bpsv.ts';
import type { Ledger } from '../../store/ledger/ledger.ts';
import type { AnswerRow } from '../../store/ledger/rows.ts';

/** The version services to ask, and the ledger that remembers their answers. */
export interface ResolveContext {
  ledger: Ledger;
  /** Undefined: nobody is asked, and answers come out of the ledger. */
  online: VersionServices | undefined;
  region: string;
  /** Called with what a person should know. */
  note: (text: string) => void;
}

/** The answer of a version service about a product, of now or of when it was last asked. */
export interface ProductAnswer extends Pick<VersionAnswer, 'bpsv' | 'bytes' | 'seqn' | 'service'> {
  /** Milliseconds since 1970 when it was said, for an answer out of the ledger; undefined for one of just now. */
  time: number | undefined;
}

/**
 * The answer of the version services about a product; it is remembered, with the service that gave it.
 * Without a network, the newest answer that the ledger has.
 * @param product empty for all of them
 * @param endpoint `versions`, `cdns` or `bgdl`; of all products `summary`
 * @throws as askVersionService; E_OFFLINE without a network when the product was never asked for
 */
export async function productAnswer(
  context: ResolveContext,
  product: string,
  endpoint: string,
): Promise<ProductAnswer> {
  const { ledger, online } = context;
  const known = ledger.answers(product, endpoint);
  if (online === undefined) return rememberedAnswer(known[0], product, endpoint);
  // The code for the network is loaded when it is needed, and so not by those that read what is held.
  const { askVersionService } = await import('../../cdn/versions/version-service.ts');
  const seqns = known.flatMap((answer) => answer.seqn ?? []);
  const answer = await askVersionService({
    ...online,
    product,
    endpoint,
    isAiling: (service) => isRecent(Number(ledger.setting(failedSetting(service)) ?? 0), ailingMs),
    lowestSeqn: seqns.length > 0 ? Math.max(...seqns) : undefined,
    isOldSummary: (summary) => isOldSummary(ledger, summary),
  });
  noteStale(context, { product, endpoint }, answer);
  remember(() => rememberAnswer(ledger, { product, endpoint }, answer));
  const { bpsv, bytes, seqn, service } = answer;
  return { bpsv, bytes, seqn, service, time: undefined };
}

/** For this time a service that failed is asked after the others. */
const ailingMs = 5 * 60_000;

/** The setting that says when a service failed last. */
function failedSetting(service: string): string {
  return `failed:${service}`;
}

/** True for a time of the last `ms`. A time to come is none: the clock was put back since. */
export function isRecent(time: number, ms: number): boolean {
  const age = Date.now() - time;
  return age >= 0 && age < ms;
}

/** Summaries of channels are kept as answers about no product. */
const summaryOf = { product: '', endpoint: 'channels' } as const;

/** True for a summary that was seen, and then another: they have no sequence numbers. */
function isOldSummary(ledger: Ledger, summary: Uint8Array): boolean {
  const seen = ledger.answers(summaryOf.product, summaryOf.endpoint);
  return seen.findIndex(({ body }) => Buffer.from(body).equals(summary)) > 0;
}

function noteStale(
  { ledger, note }: ResolveContext,
  { product, endpoint }: { product: string; endpoint: string },
  { stale, seqn, summary }: VersionAnswer,
): void {
  if (!stale) return;
  const subject = product === '' ? 'the list of products' : `${endpoint} of ${product}`;
  if (summary !== undefined) {
    note(`${subject}: from an earlier catalogue: rolled back, or from a server that lags behind`);
    return;
  }
  const highest = Math.max(...ledger.answers(product, endpoint).map((answer) => answer.seqn ?? 0));
  note(`${subject} has seqn ${seqn}, older than ${highest} seen before; no service had a newer one`);
}

function rememberAnswer(
  ledger: Ledger,
  { product, endpoint }: { product: string; endpoint: string },
  { bytes, seqn, service, summary, stale, failures }: VersionAnswer,
): void {
  // An old answer is no news: it stands behind the newest.
  const newest = stale ? ledger.answers(product, endpoint)[0] : undefined;
  const time = newest === undefined ? Date.now() : newest.time - 1;
  ledger.addAnswer(product, endpoint, { seqn: seqn ?? null, service, body: bytes, time });
  if (summary !== undefined) {
    ledger.addAnswer(summaryOf.product, summaryOf.endpoint, { seqn: null, service, body: summary, time: Date.now() });
  }
  for (const failure of failures) {
    if (failure.code !== 'E_NOT_FOUND') ledger.setSetting(failedSetting(failure.asked), String(Date.now()));
  }
}

function rememberedAnswer(known: AnswerRow | undefined, product: string, endpoint: string): ProductAnswer {
  if (known === undefined) {
    throw new PakratError(
      'E_OFFLINE',
      `the store has no ${product === '' ? 'list of products' : `${endpoint} of ${product}`}, and --offline forbids to ask`,
      {
        hint: 'Ask once without --offline.',
        data: { product, endpoint },
      },
    );
  }
  const { body, seqn, service, time } = known;
  return { bpsv: decodeBpsv(body), bytes: body, seqn: seqn ?? undefined, service, time };
}

/** Writes to the ledger; one that can only be read loses nothing but the memory of this answer. */
function remember(write: () => void): void {
  try {
    write();
  } catch (error) {
    const { cause } = error as { cause?: unknown };
    if (!codeOf(cause)?.startsWith('SQLITE_READONLY')) throw error;
  }
}
