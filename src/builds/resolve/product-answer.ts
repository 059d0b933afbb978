import type { HttpGetter } from '../../cdn/transport/http.ts';
import { codeOf, PakratError } from '../../core/errors.ts';
import { type Bpsv, decodeBpsv } from '../../formats/services/bpsv.ts';
import type { Ledger } from '../../store/ledger/ledger.ts';

/** The version services to ask, and the ledger that remembers their answers. */
export interface AnswerContext {
  ledger: Pick<Ledger, 'answers' | 'addAnswer' | 'setting' | 'setSetting'>;
  /** Undefined: nobody is asked, and answers come out of the ledger. */
  http: HttpGetter | undefined;
  /** In the order in which to ask them, as `serviceUrls` gives them. */
  services: readonly string[];
  region: string;
  /** Milliseconds for one answer. */
  timeoutMs: number;
  /** Called with what a person should know. */
  note: (text: string) => void;
  signal?: AbortSignal | undefined;
}

/** What a version service says of a product, now or when it was last asked. */
export interface ProductAnswer {
  bpsv: Bpsv;
  bytes: Uint8Array;
  seqn: number | undefined;
  /** The service that said it. */
  service: string;
  /** Milliseconds since 1970 when it was said, for an answer out of the ledger; undefined for one of just now. */
  time: number | undefined;
}

/**
 * The answer of the version services about a product; it is remembered, with the service that gave it.
 * Without a network, the newest answer that the ledger has.
 * @param endpoint `versions`, `cdns` or `bgdl`
 * @throws as askVersionService; E_OFFLINE without a network when the product was never asked for
 */
export async function productAnswer(context: AnswerContext, product: string, endpoint: string): Promise<ProductAnswer> {
  const { ledger, http, services, timeoutMs, note, signal } = context;
  const known = ledger.answers(product, endpoint)[0];
  if (http === undefined) return rememberedAnswer(known, product, endpoint);
  // What talks to the network is loaded when it is needed, and so not by those that read what is held.
  const { askVersionService } = await import('../../cdn/versions/version-service.ts');
  const setting = `service:${context.region}`;
  const answer = await askVersionService({
    product,
    endpoint,
    services,
    http,
    timeoutMs,
    firstService: ledger.setting(setting),
    lowestSeqn: known?.seqn ?? undefined,
    signal,
  });
  const { bpsv, bytes, seqn, service } = answer;
  if (answer.stale) {
    note(
      `${endpoint} of ${product} has seqn ${seqn}, older than ${known?.seqn} seen before; no service had a newer one`,
    );
  }
  remember(() => {
    ledger.addAnswer(product, endpoint, { seqn: seqn ?? null, service, body: bytes });
    ledger.setSetting(setting, service);
  });
  return { bpsv, bytes, seqn, service, time: undefined };
}

function rememberedAnswer(
  known: ReturnType<Ledger['answers']>[number] | undefined,
  product: string,
  endpoint: string,
): ProductAnswer {
  if (known === undefined) {
    throw new PakratError('E_OFFLINE', `the store has no ${endpoint} of ${product}, and --offline forbids to ask`, {
      hint: 'Ask once without --offline.',
      data: { product, endpoint },
    });
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
