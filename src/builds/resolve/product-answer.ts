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
 * @param endpoint `versions`, `cdns` or `bgdl`
 * @throws as askVersionService; E_OFFLINE without a network when the product was never asked for
 */
export async function productAnswer(
  context: ResolveContext,
  product: string,
  endpoint: string,
): Promise<ProductAnswer> {
  const { ledger, online, note } = context;
  const [known] = ledger.answers(product, endpoint);
  if (online === undefined) return rememberedAnswer(known, product, endpoint);
  // The code for the network is loaded when it is needed, and so not by those that read what is held.
  const { askVersionService } = await import('../../cdn/versions/version-service.ts');
  const setting = `service:${context.region}`;
  const answer = await askVersionService({
    ...online,
    product,
    endpoint,
    firstService: ledger.setting(setting),
    lowestSeqn: known?.seqn ?? undefined,
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

function rememberedAnswer(known: AnswerRow | undefined, product: string, endpoint: string): ProductAnswer {
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
