import { formatError, PakratError } from '../../core/errors.ts';
import { md5Hex } from '../../core/hash.ts';
import { waitForAll } from '../../core/wait-for-all.ts';
import { type Bpsv, type BpsvColumn, encodeBpsv } from '../../formats/services/bpsv.ts';
import {
  type ChannelBranch,
  type ChannelProduct,
  type ChannelSummary,
  decodeChannelCatalogue,
  decodeChannelCdns,
  decodeChannelDefinition,
  decodeChannelSummary,
} from '../../formats/services/channels.ts';
import { fetchBytesWithin } from '../transport/fetch-bytes.ts';
import type { HttpGetter } from '../transport/http.ts';

/** The largest summary, catalogue and other object that is believed. */
const maxSummarySize = 64 * 1024;
const maxCatalogueSize = 16 * 1024 * 1024;
const maxObjectSize = 1024 * 1024;
/** Milliseconds for which a summary holds: the service wants to be asked no more often. */
const summaryMs = 10_000;
/** Objects of one kind that a product may have: there is one a region at most. */
const maxObjects = 100;

/** Keeps the objects of channels: they never change, and prove themselves by their names. */
export interface ChannelObjects {
  /** An object that is kept, unchecked; undefined when it is not. */
  read(name: string): Uint8Array | undefined;
  add(name: string, bytes: Uint8Array): void;
}

/** A question to a service of channels. */
interface ChannelQuestion {
  /** `http://…` or `https://…`, without a slash at its end. */
  base: string;
  product: string;
  /** `versions` or `cdns`; `summary` for the list of all products. */
  endpoint: string;
  http: HttpGetter;
  /** Milliseconds for each answer. */
  timeoutMs: number;
  signal?: AbortSignal | undefined;
}

/** An answer in the form that the older services have. */
interface ChannelAnswer {
  bpsv: Bpsv;
  bytes: Uint8Array;
  /** The summary as it came: it names the catalogue that the answer is of. */
  summary: Uint8Array;
}

interface Pointer {
  time: number;
  bytes: Promise<Uint8Array>;
}

/** True for a service that is asked over channels. */
export function isChannels(service: string): boolean {
  return /^channels\+https?:/i.test(service);
}

/** The version service of channels. It remembers each summary for as long as it holds, and keeps every object. */
export class Channels {
  readonly #objects: ChannelObjects;
  readonly #pointers = new Map<string, Pointer>();

  constructor(objects: ChannelObjects) {
    this.#objects = objects;
  }

  /**
   * The table of a product, as `versions` and `cdns` have it, a row for each region; or the list of all products.
   * @throws E_NOT_FOUND for a product that the catalogue does not have, or has no such objects for, E_INTEGRITY for an object that is not what its
   *   name says, E_FORMAT, E_NETWORK…, E_ABORTED
   */
  async table(question: ChannelQuestion): Promise<ChannelAnswer> {
    const { product: name, endpoint } = question;
    const summary = await this.#summary(question);
    const pointer = decodeChannelSummary(summary);
    const get = (object: string, maxSize: number): Promise<Uint8Array> =>
      this.#object(question, pointer, { object, maxSize });
    const { products } = decodeChannelCatalogue(await get(pointer.catalogue, maxCatalogueSize));
    if (endpoint === 'summary') return { ...answerOf(listOf(products)), summary };
    const product = products.find((one) => one.product.toLowerCase() === name.toLowerCase());
    if (product === undefined) throw unknown(question, `the catalogue has no ${name}`);
    const table = tables[endpoint];
    if (table === undefined) throw unknown(question, `channels have no ${endpoint}`);
    const rows = await table.rows(product, (object) => get(object, maxObjectSize));
    if (rows.length === 0) throw unknown(question, `the catalogue has no ${endpoint} of ${name}`);
    return { ...answerOf({ columns: table.columns, rows }), summary };
  }

  #summary(question: ChannelQuestion): Promise<Uint8Array> {
    const { base } = question;
    const last = this.#pointers.get(base);
    if (last !== undefined && Math.abs(Date.now() - last.time) < summaryMs) return last.bytes;
    const bytes = get(question, `${base}/summary`, maxSummarySize);
    this.#pointers.set(base, { time: Date.now(), bytes });
    // One that failed is asked for again.
    bytes.catch(() => this.#pointers.delete(base));
    return bytes;
  }

  async #object(
    question: ChannelQuestion,
    { path }: ChannelSummary,
    { object, maxSize }: { object: string; maxSize: number },
  ): Promise<Uint8Array> {
    const kept = this.#objects.read(object);
    if (kept !== undefined && md5Hex(kept) === object) return kept;
    const place = [path, object.slice(0, 2), object.slice(2, 4), object].filter((part) => part !== '').join('/');
    const bytes = await get(question, `${question.base}/${place}`, maxSize);
    if (md5Hex(bytes) !== object) {
      throw new PakratError('E_INTEGRITY', `channels+${question.base}: the object ${object} is not what its name says`);
    }
    this.#objects.add(object, bytes);
    return bytes;
  }
}

function answerOf(table: Pick<Bpsv, 'columns' | 'rows'>): Pick<ChannelAnswer, 'bpsv' | 'bytes'> {
  const bpsv = { ...table, seqn: undefined };
  return { bpsv, bytes: encodeBpsv(bpsv) };
}

/** All products, with a row for each kind of table that there is of one, as older services have it. */
function listOf(products: readonly ChannelProduct[]): Pick<Bpsv, 'columns' | 'rows'> {
  const rows = products.flatMap(({ product, builds, regions, preloads }) =>
    [
      ...(builds.length > 0 ? [''] : []),
      ...(regions.length > 0 ? ['cdn'] : []),
      ...(preloads.length > 0 ? ['bgdl'] : []),
    ].map((flags) => ({ Product: product, Seqn: '', Flags: flags })),
  );
  return { columns: [...columns('Product'), { name: 'Seqn', type: 'DEC', size: 4 }, ...columns('Flags')], rows };
}

type GetObject = (object: string) => Promise<Uint8Array>;
type Row = Record<string, string>;

/** The tables of the older services, made of the objects of a product. */
const tables: Partial<
  Record<string, { columns: BpsvColumn[]; rows: (product: ChannelProduct, get: GetObject) => Promise<Row[]> }>
> = {
  versions: {
    columns: [
      ...columns('Region'),
      ...columns('BuildConfig', 'CDNConfig', 'KeyRing').map((column) => ({ ...column, type: 'HEX', size: 16 })),
      { name: 'BuildId', type: 'DEC', size: 4 },
      ...columns('VersionsName'),
      { name: 'ProductConfig', type: 'HEX', size: 16 },
    ],
    rows: ({ builds }, get) =>
      rowsOf(builds, get, (bytes) => {
        const build = decodeChannelDefinition(bytes);
        return (region) => ({
          Region: region,
          BuildConfig: build.buildConfig,
          CDNConfig: build.cdnConfig,
          KeyRing: build.keyRing ?? '',
          BuildId: String(build.buildId ?? ''),
          VersionsName: build.versionName ?? '',
          ProductConfig: build.productConfig ?? '',
        });
      }),
  },
  cdns: {
    columns: columns('Name', 'Path', 'Hosts', 'Servers', 'ConfigPath'),
    rows: async ({ builds, regions }, get) => {
      // The paths stand in the definitions of builds, for the same regions.
      const paths = await rowsOf(builds, get, (bytes) => {
        const { path = '', configPath = '' } = decodeChannelDefinition(bytes);
        return (region) => ({ region, path, configPath });
      });
      return rowsOf(regions, get, (bytes) => {
        const { servers } = decodeChannelCdns(bytes);
        return (region) => {
          const { path = '', configPath = '' } = paths.find((row) => row.region === region) ?? paths[0] ?? {};
          return { Name: region, Path: path, Hosts: '', Servers: servers.join(' '), ConfigPath: configPath };
        };
      });
    },
  },
};

function columns(...names: string[]): BpsvColumn[] {
  return names.map((name) => ({ name, type: 'STRING', size: 0 }));
}

/** A row for each region of some branches; the first that names a region has it. */
async function rowsOf(
  branches: readonly ChannelBranch[],
  get: GetObject,
  decode: (bytes: Uint8Array) => (region: string) => Row,
): Promise<Row[]> {
  const objects = [...new Set(branches.map(({ object }) => object))];
  if (objects.length > maxObjects) {
    throw formatError('E_FORMAT_RANGE', 'channel catalogue', `${objects.length} objects for one product`);
  }
  const bytes = await waitForAll(...objects.map((object) => get(object)));
  const rowOf = new Map(objects.map((object, i) => [object, decode(bytes[i] as Uint8Array)]));
  const rows = new Map<string, Row>();
  for (const { branches: regions, object } of branches) {
    for (const region of regions) if (!rows.has(region)) rows.set(region, rowOf.get(object)?.(region) ?? {});
  }
  return [...rows.values()];
}

function get({ http, timeoutMs, signal }: ChannelQuestion, url: string, maxSize: number): Promise<Uint8Array> {
  return fetchBytesWithin(timeoutMs, http, url, { maxSize, signal });
}

function unknown({ base }: ChannelQuestion, problem: string): PakratError {
  return new PakratError('E_NOT_FOUND', `channels+${base}: ${problem}`);
}
