import { setTimeout as sleep } from 'node:timers/promises';
import { codeOf, messageOf, PakratError } from '../../core/errors.ts';
import { type Bpsv, decodeBpsv } from '../../formats/services/bpsv.ts';
import { fetchBytesWithin } from '../transport/fetch-bytes.ts';
import { bareHost } from '../transport/host-text.ts';
import type { HttpGetter } from '../transport/http.ts';
import { redactUrl } from '../transport/http-head.ts';
import { type Channels, isChannels } from './channels.ts';
import { queryRibbit, ribbitPort } from './ribbit.ts';
import { isRibbit } from './service-urls.ts';

/** The version services, and the means to ask them. */
export interface VersionServices {
  /** In the order in which to ask them, as `serviceUrls` gives them. */
  services: readonly string[];
  http: HttpGetter;
  /** Loads what asks services of channels. */
  channels: () => Promise<Channels>;
  /** Milliseconds that one service has for its answer. */
  timeoutMs: number;
  signal?: AbortSignal | undefined;
  /** Called before they are asked. */
  onAsk?: (() => void) | undefined;
  /** Told which service failed and what is done next, and undefined when one has answered. */
  onProblem?: ((problem: string | undefined) => void) | undefined;
}

/** A question to the version services. */
export interface VersionQuestion extends VersionServices {
  /** Empty for all of them, which `summary` is about. */
  product: string;
  /** `versions`, `cdns` or `bgdl`; of all products `summary`. */
  endpoint: string;
  /** True for a service that failed lately: it is asked after the others. */
  isAiling?: ((service: string) => boolean) | undefined;
  /** The highest sequence number seen so far: an answer below it comes from a stale edge. */
  lowestSeqn?: number | undefined;
  /** True for a summary of channels that was there before the newest one: rolled back, or of a stale edge. */
  isOldSummary?: ((summary: Uint8Array) => boolean) | undefined;
}

interface ServiceFailure {
  /** One of those asked. */
  asked: string;
  /** The same as it may be shown. */
  service: string;
  code: string;
  message: string;
}

/** The answer of a version service. */
export interface VersionAnswer {
  bpsv: Bpsv;
  /** The table as it came. */
  bytes: Uint8Array;
  /** The service that gave it, one of those asked. */
  service: string;
  seqn: number | undefined;
  /** Of channels: the summary that the answer follows from. */
  summary?: Uint8Array | undefined;
  /** True when it is older than one seen before; nothing newer answered. */
  stale: boolean;
  /** The services that were asked before and failed. */
  failures: ServiceFailure[];
}

const maxAnswerSize = 4 * 1024 * 1024;
/** Times that all services are asked, when what failed may pass. */
const rounds = 6;
const pauseMs = 200;
/** No new round begins after so many times the patience for one service. */
const mostPatience = 4;

/**
 * Asks one service after the other until one gives a right answer that is not stale. A stale one is kept, and taken when nothing newer answers.
 * @throws E_NOT_FOUND when all that answered do not know the product, E_NETWORK_EXHAUSTED when none can be believed,
 *   E_USAGE for an impossible product name, E_ABORTED
 */
export async function askVersionService(question: VersionQuestion): Promise<VersionAnswer> {
  if (question.endpoint !== 'summary') checkProduct(question.product);
  const { services, isAiling = () => false } = question;
  question.onAsk?.();
  const lastRound = performance.now() + mostPatience * question.timeoutMs;
  const ordered = [...services].sort((a, b) => Number(isAiling(a)) - Number(isAiling(b)));
  for (let round = 1; ; round++) {
    const failures: (ServiceFailure & { passing: boolean })[] = [];
    let stale: VersionAnswer | undefined;
    for (const service of ordered) {
      try {
        const answer = { ...(await askOne(service, question)), service, stale: false, failures };
        if (round > 1 || failures.length > 0) question.onProblem?.(undefined);
        if (!isOld(answer, question)) return answer;
        if (stale === undefined || (answer.seqn ?? 0) > (stale.seqn ?? 0)) stale = { ...answer, stale: true };
      } catch (error) {
        const failure = failureOf(service, error);
        failures.push(failure);
        const next = ordered[failures.length];
        const plan = next === undefined ? '' : `, asking ${nameOf(next)}`;
        question.onProblem?.(`${failure.service}: ${shortMessage(failure)}${plan}`);
      }
    }
    if (stale !== undefined) return stale;
    const isLast = round === rounds || performance.now() > lastRound;
    if (isLast || !failures.some((failure) => failure.passing)) throw noAnswer(question, failures);
    await sleep(pauseMs * round, undefined, { signal: question.signal });
  }
}

function isOld({ seqn, summary }: VersionAnswer, { lowestSeqn = 0, isOldSummary }: VersionQuestion): boolean {
  return summary === undefined ? seqn !== undefined && seqn < lowestSeqn : isOldSummary?.(summary) === true;
}

function failureOf(service: string, error: unknown): ServiceFailure & { passing: boolean } {
  const code = codeOf(error);
  if (code === undefined || !/^E_(NETWORK|FORMAT|NOT_FOUND|INTEGRITY)/.test(code)) throw error;
  // A busy service or a cut connection may be well a moment later; one that is silent or not there has had its time.
  const status = Number(statusOf(error));
  const reason = (error as PakratError).data?.reason;
  const passing =
    code === 'E_NETWORK' ? reason !== 'ECONNREFUSED' && reason !== 'ENOTFOUND' : status >= 500 || status === 429;
  return { asked: service, service: nameOf(service), code, message: messageOf(error), passing };
}

async function askOne(
  service: string,
  question: VersionQuestion,
): Promise<Pick<VersionAnswer, 'bpsv' | 'bytes' | 'seqn' | 'summary'>> {
  if (isChannels(service)) {
    const channels = await question.channels();
    const answer = await channels.table({ ...question, base: service.replace(/^channels\+/i, '') });
    return { ...answer, seqn: undefined };
  }
  const bytes = isRibbit(service) ? await askRibbit(service, question) : await askHttp(service, question);
  if (bytes.length === 0) throw unknownProduct(service, 'empty answer');
  const bpsv = decodeBpsv(bytes);
  // A product that is gone keeps its header. `bgdl` alone is empty most of the time.
  if (bpsv.rows.length === 0 && question.endpoint !== 'bgdl') throw unknownProduct(service, 'a table without rows');
  return { bpsv, bytes, seqn: bpsv.seqn };
}

function askRibbit(service: string, question: VersionQuestion): Promise<Uint8Array> {
  const url = new URL(service);
  const { product, endpoint, timeoutMs, signal } = question;
  const host = bareHost(url.hostname);
  return queryRibbit({ host, port: Number(url.port || ribbitPort), product, endpoint, timeoutMs, signal });
}

async function askHttp(service: string, question: VersionQuestion): Promise<Uint8Array> {
  const { product, endpoint, http, timeoutMs, signal } = question;
  const template = endpoint === 'summary' ? summaryUrl(service) : service;
  const url = template.replaceAll('{product}', product).replaceAll('{endpoint}', endpoint);
  try {
    return await fetchBytesWithin(timeoutMs, http, url, { maxSize: maxAnswerSize, signal });
  } catch (error) {
    if (statusOf(error) === 404) throw unknownProduct(service, 'HTTP status 404');
    throw error;
  }
}

/** The list of all products lies beside the products, in the second version of the service; the first has none over HTTP. */
function summaryUrl(service: string): string {
  return service.replace(/(\/v2)?(\/products)?\/\{product\}\/\{endpoint\}$/, '/v2/summary');
}

function statusOf(error: unknown): unknown {
  return (error as { data?: { status?: unknown } }).data?.status;
}

/** A service as it may be shown: without name and password, and without what stands for the question. */
function nameOf(service: string): string {
  return redactUrl(service).replace('/{product}/{endpoint}', '');
}

function checkProduct(product: string): void {
  if (!/^[\w.-]{1,64}$/.test(product) || /^\.+$/.test(product)) {
    throw new PakratError('E_USAGE', `${JSON.stringify(product)} cannot be the name of a product`, {
      hint: 'Products are written as in wow, wow_classic_era or fenris.',
    });
  }
}

function unknownProduct(service: string, saying: string): PakratError {
  return new PakratError('E_NOT_FOUND', `${nameOf(service)}: ${saying}`);
}

function noAnswer(question: VersionQuestion, failures: readonly ServiceFailure[]): PakratError {
  const { product, endpoint } = question;
  const answered = failures.filter(({ code }) => !code.startsWith('E_NETWORK') || code === 'E_NETWORK_STATUS');
  const unknown = answered.length > 0 && answered.every(({ code }) => code === 'E_NOT_FOUND');
  const lines = failures.map((failure) => `\n  ${failure.service}: ${shortMessage(failure)}`).join('');
  const data = { product, endpoint, services: failures.map(({ service, code }) => `${service} ${code}`) };
  const wanted = endpoint === 'summary' ? 'which products there are' : `${endpoint} of ${product}`;
  if (unknown) {
    return new PakratError('E_NOT_FOUND', `no version service knows ${wanted}:${lines}`, {
      hint: 'Check the spelling of the product, and --region; --patch-url asks a service of your own.',
      data,
    });
  }
  const message =
    failures.length === 0
      ? 'no version service is known'
      : `no version service answered for ${product || 'the list of products'}:`;
  return new PakratError('E_NETWORK_EXHAUSTED', `${message}${lines}`, {
    hint: 'Check the network, --region and --patch-url; --offline works with what the store holds.',
    data,
  });
}

/** A failure in one short line, without the URL that its message opens with. */
function shortMessage({ service, message }: ServiceFailure): string {
  const [line = ''] = message.split('\n');
  const rest = line.startsWith(service) ? line.slice(service.length).replace(/^\S*:\s+/, '') : line;
  return (rest || line).slice(0, 160);
}
