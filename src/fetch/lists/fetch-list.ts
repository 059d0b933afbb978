import * as fs from 'node:fs';
import { join } from 'node:path';
import {
  type DocumentTarget,
  type FetchDocumentOptions,
  fetchDocument,
  type Validators,
} from '../../cdn/transport/fetch-document.ts';
import type { HttpGetter } from '../../cdn/transport/http.ts';
import { type HttpHead, redactUrl } from '../../cdn/transport/http-head.ts';
import { formatError, isDamage, PakratError } from '../../core/errors.ts';
import { inStore, makeFolderDurable, writeAll } from '../../files/durable.ts';
import type { Ledger } from '../../store/ledger/ledger.ts';
import type { Store } from '../../store/store.ts';

/** The tries that a list is given, and who hears of it. */
export type ListOptions = Pick<FetchDocumentOptions, 'attempts' | 'signal' | 'onProgress'>;

/** A list on the web. */
interface WebList<Taken> extends ListOptions {
  url: string;
  /** Name of the list, for its file under tmp/ and its row in the ledger. */
  name: 'keys' | 'listfile';
  /** Bytes of the largest list that is believed. */
  maxSize: number;
  /** The version that need not be sent again. */
  known: Validators;
  /** Reads the list; E_FORMAT… or E_INTEGRITY from it say that it is none, and it is fetched anew the next time. */
  take: (list: AsyncIterable<Uint8Array>) => Promise<Taken>;
}

const pieceBytes = 1 << 20;

/**
 * Fetches a list, unless it is still the known version, and hands it over when all of it is there. A download that was cut is gone on
 * with, now or the next time. The caller sees to it that nobody else fetches the same list.
 * @returns the bytes that came and their version; `taken` is undefined when the list is still the known version
 * @throws E_NETWORK…, E_ABORTED, E_FORMAT for a web page, and as `take`
 */
export async function fetchList<Taken>(
  store: Store,
  http: HttpGetter,
  { url, name, take, ...options }: WebList<Taken>,
): Promise<{ bytes: number; taken: Taken | undefined; validators: Validators }> {
  const part = new ListPart(store, name, url);
  try {
    const modified = await fetchDocument(http, url, part, { ...options, onHead: refusePage });
    const taken = modified ? await takePart(part, take) : undefined;
    return { bytes: part.bytes, taken, validators: part.validators };
  } finally {
    part.close();
  }
}

async function takePart<Taken>(part: ListPart, take: WebList<Taken>['take']): Promise<Taken> {
  try {
    const taken = await take(part.read());
    part.remove();
    return taken;
  } catch (error) {
    if (isDamage(error)) part.remove();
    throw error;
  }
}

function refusePage({ status, headers }: HttpHead): void {
  if (status >= 300 || !/^text\/html\b/i.test(headers['content-type'] ?? '')) return;
  throw formatError('E_FORMAT', 'list', 'the answer is a web page, no list');
}

/** A list on its way: a file under tmp/, and in the ledger what its version is known by. */
class ListPart implements DocumentTarget {
  size: number;
  validators: Validators;
  /** Bytes that came in this run. */
  bytes = 0;
  readonly #path: string;
  readonly #setting: string;
  readonly #url: string;
  readonly #ledger: Ledger;
  readonly #fd: number;

  constructor({ layout, ledger }: Store, name: string, url: string) {
    const { O_CREAT, O_RDWR } = fs.constants;
    makeFolderDurable(layout.temporary);
    this.#path = join(layout.temporary, `${name}.part`);
    this.#setting = `${name}-part`;
    this.#url = redactUrl(url);
    this.#ledger = ledger;
    this.#fd = fs.openSync(this.#path, O_CREAT | O_RDWR, 0o666);
    const known = JSON.parse(ledger.setting(this.#setting) ?? 'null') as (Validators & { url: string }) | null;
    const isSame = known?.url === this.#url;
    this.size = isSame ? fs.fstatSync(this.#fd).size : 0;
    this.validators = isSame ? { etag: known.etag, lastModified: known.lastModified } : {};
  }

  close(): void {
    fs.closeSync(this.#fd);
    if (this.size === 0) fs.rmSync(this.#path, { force: true });
  }

  begin({ etag, lastModified }: Validators): void {
    fs.ftruncateSync(this.#fd, 0);
    this.size = 0;
    this.validators = { etag, lastModified };
    this.#ledger.setSetting(this.#setting, JSON.stringify({ url: this.#url, etag, lastModified }));
  }

  write(piece: Uint8Array): void {
    inStore(this.#path, () => writeAll(this.#fd, piece, this.size));
    this.size += piece.length;
    this.bytes += piece.length;
  }

  /** Forgets what came. */
  remove(): void {
    fs.ftruncateSync(this.#fd, 0);
    this.size = 0;
    this.#ledger.setSetting(this.#setting, 'null');
  }

  /** All of it, from its start. */
  read(): AsyncIterable<Uint8Array> {
    return fs.createReadStream(this.#path, { highWaterMark: pieceBytes });
  }
}

/**
 * The URL of a list that is to be fetched.
 * @param list.what `keys` or `listfile`: the command and the group of settings
 * @throws E_USAGE when there is none, for what is no http or https URL, and offline
 */
export function listUrl(text: string, { what, offline }: { what: 'keys' | 'listfile'; offline: boolean }): string {
  if (text === '') {
    throw new PakratError('E_USAGE', `no list of ${what === 'keys' ? 'keys' : 'names'} is set`, {
      hint: `Name one with --url, or set ${what}.url in your settings file.`,
    });
  }
  const importFile = `\`pakrat ${what} import FILE\``;
  if (!/^https?:\/\/[^/]/i.test(text) || !URL.canParse(text)) {
    throw new PakratError('E_USAGE', `${JSON.stringify(text)} is no http or https URL`, {
      hint: `A file is read by ${importFile}.`,
    });
  }
  if (offline) {
    throw new PakratError('E_USAGE', `${what} update fetches, and --offline forbids that`, {
      hint: `Leave --offline away, or import a file: ${importFile}.`,
    });
  }
  return text;
}
