import { redactUrl } from '../../cdn/transport/http-head.ts';
import { stepping, type WorkOptions } from '../../core/progress.ts';
import { listUrl } from '../../fetch/lists/fetch-list.ts';
import { type ListfileUpdate, updateListfile as update } from '../../fetch/lists/update-listfile.ts';
import type { Session } from '../session/session.ts';
import { tellBadLines } from '../session/tell-names.ts';

export type { ListfileUpdate } from '../../fetch/lists/update-listfile.ts';

/** The address of the list. */
export interface UpdateListfileOptions extends WorkOptions {
  /** Default: the setting `listfile.url`. */
  url?: string | undefined;
}

/**
 * Reads a list of names from a URL, unless it is still what it was. Names change only when all of the list is there and good.
 * @throws E_USAGE without a URL or offline, E_FORMAT for what is no list, E_NETWORK…, E_ABORTED
 */
export async function updateListfile(session: Session, options: UpdateListfileOptions = {}): Promise<ListfileUpdate> {
  const { settings, offline, threads, workerUrl } = session.options;
  const url = listUrl(options.url ?? settings.listfile.url, { what: 'listfile', offline });
  options.onProgress?.({ type: 'note', text: `asking ${redactUrl(url)}` });
  const store = await session.store({ create: true });
  const updated = await update(store, await session.http(), url, {
    attempts: settings.network.attemptsPerHost,
    signal: options.signal,
    threads,
    workerUrl,
    onStep: stepping(options.onProgress),
    onProgress: (done, total) => options.onProgress?.({ type: 'bytes', phase: 'names', done, total }),
  });
  tellBadLines(updated, options.onProgress);
  return updated;
}
