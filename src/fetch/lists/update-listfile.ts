import * as fs from 'node:fs';
import { join } from 'node:path';
import { type ListfileChange, lockListfile, replaceListfile } from '../../builds/listfile/listfile-import.ts';
import { listfileVersion } from '../../builds/listfile/listfile-index.ts';
import { type DownloadOptions, type DownloadTarget, download } from '../../cdn/transport/download.ts';
import type { Validators } from '../../cdn/transport/get-if-changed.ts';
import type { HttpGetter } from '../../cdn/transport/http.ts';
import { type HttpHead, redactUrl } from '../../cdn/transport/http-head.ts';
import { formatError, isDamage } from '../../core/errors.ts';
import { makeFolderDurable, storeError, writeAll } from '../../files/durable.ts';
import type { StoreLayout } from '../../store/layout.ts';
import type { Ledger } from '../../store/ledger/ledger.ts';
import type { Store } from '../../store/store.ts';

/** The largest list that is believed. */
const maxListSize = 4 * 1024 ** 3;
/** Names in the ledger: of the list that the names came from, and of the one that is on its way. */
const knownSetting = 'listfile';
const partSetting = 'listfile-part';

/** What an update of names did. */
export interface ListfileUpdate extends ListfileChange {
  url: string;
  /** False when the server said that the list is still the one that was read last. */
  modified: boolean;
  /** Bytes that were fetched. */
  bytes: number;
}

/** What is remembered of a list, beside the counts of its last update. */
interface KnownList extends Validators {
  url: string;
  rows?: number;
  ids?: number;
}

/**
 * Fetches a list of names, unless it is still what it was, and makes it the new version of what came from there.
 * A download that was cut is gone on with, now or the next time. Names change only when all of the list is there and good.
 * @throws E_NETWORK…, E_ABORTED, E_FORMAT for what is no list, and as replaceListfile
 */
export async function updateListfile(
  store: Store,
  http: HttpGetter,
  url: string,
  options: Pick<DownloadOptions, 'attempts' | 'signal' | 'onProgress'>,
): Promise<ListfileUpdate> {
  const { layout, ledger } = store;
  const release = lockListfile(layout);
  const part = new Part(layout, ledger, url);
  try {
    const known = knownList(store, url);
    const modified = await download(http, url, part, { ...options, known, maxSize: maxListSize, onHead: refusePage });
    const { bytes } = part;
    const shown = redactUrl(url);
    if (!modified) {
      const { rows = 0, ids = 0 } = known;
      return { url: shown, modified, bytes, rows, ids, added: 0, changed: 0, removed: 0 };
    }
    const change = await takeList(layout, part, shown);
    const { rows, ids } = change;
    ledger.setSetting(knownSetting, JSON.stringify({ url: shown, ...part.validators, rows, ids } satisfies KnownList));
    part.remove();
    return { url: shown, modified, bytes, ...change };
  } finally {
    part.close();
    release();
  }
}

/** What is known of the list whose names are in use. */
function knownList({ layout, ledger }: Store, url: string): Partial<KnownList> {
  const known = remembered(ledger, knownSetting);
  return known?.url === redactUrl(url) && listfileVersion(layout).url === known.url ? known : {};
}

function remembered(ledger: Ledger, setting: string): KnownList | undefined {
  return (JSON.parse(ledger.setting(setting) ?? 'null') as KnownList | null) ?? undefined;
}

function refusePage({ status, headers }: HttpHead): void {
  if (status >= 300 || !/^text\/html\b/i.test(headers['content-type'] ?? '')) return;
  throw formatError('E_FORMAT', 'listfile', 'the answer is a web page, no list of names');
}

/** What is no list is fetched anew the next time. */
async function takeList(layout: StoreLayout, part: Part, url: string): Promise<ListfileChange> {
  try {
    return await replaceListfile(layout, part.read(), { url });
  } catch (error) {
    if (isDamage(error)) part.remove();
    throw error;
  }
}

/** The list on its way: a file under tmp/, and in the ledger what its version is known by. */
class Part implements DownloadTarget {
  size: number;
  validators: Validators;
  /** Bytes that came in this run. */
  bytes = 0;
  readonly #path: string;
  readonly #url: string;
  readonly #ledger: Ledger;
  readonly #fd: number;

  constructor(layout: StoreLayout, ledger: Ledger, url: string) {
    const { O_CREAT, O_RDWR } = fs.constants;
    makeFolderDurable(layout.temporary);
    this.#path = join(layout.temporary, 'listfile.part');
    this.#url = redactUrl(url);
    this.#ledger = ledger;
    this.#fd = fs.openSync(this.#path, O_CREAT | O_RDWR, 0o666);
    const known = remembered(ledger, partSetting);
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
    this.#ledger.setSetting(partSetting, JSON.stringify({ url: this.#url, etag, lastModified } satisfies KnownList));
  }

  write(piece: Uint8Array): void {
    try {
      writeAll(this.#fd, piece, this.size);
    } catch (error) {
      throw storeError(error, this.#path);
    }
    this.size += piece.length;
    this.bytes += piece.length;
  }

  remove(): void {
    fs.ftruncateSync(this.#fd, 0);
    this.size = 0;
    this.#ledger.setSetting(partSetting, 'null');
  }

  /** All of it, from its start. */
  read(): AsyncIterable<Uint8Array> {
    return fs.createReadStream(this.#path, { highWaterMark: 1 << 20 });
  }
}
