import type { HttpClient, HttpGetter } from '../cdn/transport/http.ts';
import { serviceUrls } from '../cdn/versions/service-urls.ts';
import { codeOf, PakratError } from '../core/errors.ts';
import { type Bpsv, decodeBpsv } from '../formats/services/bpsv.ts';
import type { Ledger } from '../store/ledger/ledger.ts';
import { openStore } from '../store/store.ts';
import type { GlobalOptions } from './global-options.ts';

/** What it takes to get an answer about a product. */
export interface AnswerContext {
  ledger: Pick<Ledger, 'answers' | 'addAnswer' | 'setting' | 'setSetting'>;
  /** Not looked at when offline. */
  http: HttpGetter | undefined;
  options: Pick<GlobalOptions, 'region' | 'patchUrls' | 'offline' | 'settings'>;
  /** Told, in a line, what a person should know. */
  note: (text: string) => void;
  signal?: AbortSignal | undefined;
}

/** What a version service says of a product, now or when it was last asked. */
export interface ProductAnswer {
  bpsv: Bpsv;
  bytes: Uint8Array;
  seqn: number | undefined;
  /** Who said it. */
  service: string;
  /** Milliseconds since 1970 when it was said, for an answer out of the ledger; undefined for one of just now. */
  time: number | undefined;
}

/**
 * What the version service says of a product; the answer and the service that gave it are remembered.
 * With `offline`, the newest answer that the ledger has.
 * @param endpoint `versions`, `cdns` or `bgdl`
 * @throws as askVersionService; E_OFFLINE when offline and the product was never asked for
 */
export async function productAnswer(context: AnswerContext, product: string, endpoint: string): Promise<ProductAnswer> {
  const { ledger, http, options, note, signal } = context;
  if (options.offline || http === undefined) return offlineAnswer(context, product, endpoint);
  const known = ledger.answers(product, endpoint)[0];
  // What talks to the network is loaded when it is needed, and so not by those that read what is held.
  const { askVersionService } = await import('../cdn/versions/version-service.ts');
  const setting = `service:${options.region}`;
  const answer = await askVersionService({
    product,
    endpoint,
    services: serviceUrls(options.settings.versionServices, options.region, options.patchUrls),
    http,
    timeoutMs: options.settings.network.versionServiceMs,
    firstService: ledger.setting(setting),
    lowestSeqn: known?.seqn ?? undefined,
    signal,
  });
  if (answer.stale) {
    note(
      `Note: ${endpoint} of ${product} has seqn ${answer.seqn}, older than ${known?.seqn} seen before; no service had a newer one.`,
    );
  }
  const { bpsv, bytes, seqn, service } = answer;
  remember(() => {
    ledger.addAnswer(product, endpoint, { seqn: seqn ?? null, service, body: bytes });
    ledger.setSetting(setting, service);
  });
  return { bpsv, bytes, seqn, service, time: undefined };
}

function offlineAnswer(context: AnswerContext, product: string, endpoint: string): ProductAnswer {
  const known = context.ledger.answers(product, endpoint)[0];
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

/**
 * Opens the store and a connection pool for questions to version services, runs `body`, and closes both.
 * Without a store there is one after this, unless `offline`.
 */
export async function withAnswers<Result>(
  options: GlobalOptions,
  hooks: Pick<AnswerContext, 'note' | 'signal'>,
  body: (context: AnswerContext) => Promise<Result>,
): Promise<Result> {
  const store = openStore(options.store, { create: !options.offline });
  let http: HttpClient | undefined;
  try {
    if (!options.offline) http = await openHttp(options);
    return await body({ ledger: store.ledger, http, options, ...hooks });
  } finally {
    await http?.close();
    store.close();
  }
}

async function openHttp({ settings }: GlobalOptions): Promise<HttpClient> {
  const { HttpClient } = await import('../cdn/transport/http.ts');
  const { connectMs, idleMs } = settings.network;
  return new HttpClient({ connectMs, idleMs, connections: 2 });
}
