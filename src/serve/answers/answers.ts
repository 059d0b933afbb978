import { statSync } from 'node:fs';
import { resultUnless } from '../../core/errors.ts';
import { md5Hex } from '../../core/hash.ts';
import { encodeChannelObject } from '../../formats/services/channels.ts';
import { makeCatalogueRow, makeChannelSummary } from '../../publish/answers/make-channels.ts';
import {
  encodeSummary,
  makeCdns,
  makeVersions,
  type ServiceAnswer,
  summaryRows,
} from '../../publish/manifests/configs.ts';
import type { BuildIdentity } from '../../store/ledger/rows.ts';
import type { Store } from '../../store/store.ts';
import { liveBuilds } from './live-builds.ts';
import { answerNumbers, type NumberAnswer } from './seqns.ts';

/** The tables that the server answers about a product with, by endpoint. */
type ProductTables = ReadonlyMap<string, Uint8Array>;

/** All that the version services of the server say at a time. */
interface Said {
  /** By product code. */
  products: ReadonlyMap<string, ProductTables>;
  /** The list of all products. */
  summary: Uint8Array;
  /** The summary of the channels. */
  channels: Uint8Array;
}

/** What the version services of the server say, of all products of a store. */
export interface Answers {
  /** A table of a product: `versions` or `cdns`. Undefined where there is none. */
  table(product: string, endpoint: string): Uint8Array | undefined;
  /** The list of all products. */
  summary(): Uint8Array;
  /** The summary of the channels: it names their catalogue. */
  channels(): Uint8Array;
  /** An object of the channels by its MD5: of the catalogue of now, or of one that was named before. */
  channelObject(name: string): Uint8Array | undefined;
  /** Makes the next answer look at the ledger again: a build came. */
  renew(): void;
}

/** What answers are made of. */
interface AnswerSource {
  store: Store;
  /** By product: builds that a person named. */
  chosen: ReadonlyMap<string, BuildIdentity>;
  /** True where what lacks of a build is fetched when it is asked for. */
  mayLack: boolean;
  /** `host[:port]` that `cdns` names. */
  publicHost: () => string;
}

/** Another process may add a build: the ledger is looked at again after this time where its files changed, and after ten times that in any case. */
const renewMs = 1000;
/** Objects of channels that are kept for clients that read an earlier summary. */
const mostObjects = 10_000;

/** Answers out of the ledger, as it is now. They are made when they are asked for, and again when the ledger changed. */
export function openAnswers(source: AnswerSource): Answers {
  const objects = new Map<string, Uint8Array>();
  const numberAnswer = answerNumbers(source.store);
  let said: Said | undefined;
  let [madeAt, madeOf] = [0, ''];
  const now = (): Said => {
    const age = performance.now() - madeAt;
    if (said !== undefined && age < renewMs) return said;
    const state = ledgerState(source.store);
    if (said === undefined || state !== madeOf || age > 10 * renewMs) said = makeAnswers(source, numberAnswer, objects);
    [madeAt, madeOf] = [performance.now(), state];
    return said;
  };
  return {
    table(product, endpoint) {
      const { products } = now();
      return (products.get(product) ?? products.get(product.toLowerCase()))?.get(endpoint);
    },
    summary: () => now().summary,
    channels: () => now().channels,
    channelObject(name) {
      now();
      return objects.get(name);
    },
    renew() {
      said = undefined;
    },
  };
}

/** Changes with every commit to the ledger, by whichever process. */
function ledgerState({ layout: { ledger } }: Store): string {
  const stateOf = (path: string): string | undefined =>
    resultUnless(
      () => true,
      () => {
        const { size, mtimeNs } = statSync(path, { bigint: true });
        return `${size} ${mtimeNs}`;
      },
    );
  return [ledger, `${ledger}-wal`].map(stateOf).join();
}

function makeAnswers(source: AnswerSource, numberAnswer: NumberAnswer, objects: Map<string, Uint8Array>): Said {
  const { store, chosen } = source;
  const known = new Set([...store.ledger.builds().map(({ product }) => product), ...chosen.keys()]);
  const answers = [...known].sort().map((product) => productAnswers(source, numberAnswer, product));
  const put = (json: Record<string, unknown>): string => putObject(objects, json);
  const catalogue = put({
    name: 'public',
    products: answers.flatMap((own) => own.slice(0, 1).map(({ product }) => makeCatalogueRow(product, own, put))),
  });
  const rows = answers.flatMap((own) => own.slice(0, 1).flatMap(summaryRows));
  return {
    products: new Map(answers.flatMap((own) => own.slice(0, 1).map(({ product }) => [product, tablesOf(own)]))),
    summary: encodeSummary(rows, numberAnswer('', JSON.stringify(rows), undefined)),
    channels: encodeChannelObject({ json: makeChannelSummary(catalogue) }),
  };
}

function tablesOf(answers: readonly ServiceAnswer[]): ProductTables {
  return new Map([
    ['versions', makeVersions(...answers)],
    ['cdns', makeCdns(...answers)],
  ]);
}

/** What is said of a product, for one live build after the other. */
function productAnswers(source: AnswerSource, numberAnswer: NumberAnswer, product: string): ServiceAnswer[] {
  const { store, chosen, mayLack, publicHost } = source;
  const answers = liveBuilds(store.ledger, product, { chosen: chosen.get(product), mayLack }).map(
    ({ build, regions }) => ({
      product,
      version: build.name,
      buildId: Number(build.buildId ?? 0) || 0,
      buildConfig: build.buildConfig,
      cdnConfig: build.cdnConfig,
      productConfig: build.productConfig ?? '',
      keyRing: build.keyRing ?? '',
      regions,
      seqn: 0,
      cdnPath: build.cdnPath,
      configPath: build.configPath,
      hosts: [publicHost()],
    }),
  );
  const given = ['versions', 'cdns'].flatMap((endpoint) => store.ledger.answers(product, endpoint));
  const highest = Math.max(0, ...given.map(({ seqn }) => seqn ?? 0));
  const seqn = numberAnswer(product, JSON.stringify(answers), highest);
  return answers.map((answer) => ({ ...answer, seqn }));
}

/** Keeps an object, and those that were named last. */
function putObject(objects: Map<string, Uint8Array>, json: Record<string, unknown>): string {
  const bytes = encodeChannelObject({ json });
  const name = md5Hex(bytes);
  objects.delete(name);
  objects.set(name, bytes);
  for (const oldest of objects.keys()) {
    if (objects.size <= mostObjects) break;
    objects.delete(oldest);
  }
  return name;
}
