import { PakratError } from '../core/errors.ts';
import { type ListfileUpdate, updateListfile } from '../fetch/lists/update-listfile.ts';
import { openStore } from '../store/store.ts';
import type { GlobalOptions } from './global-options.ts';
import { formatBytes, formatCount } from './render/bytes.ts';
import type { Progress } from './render/progress.ts';

/** What to update from, and who is told how far it is. */
export interface ListfileUpdateRequest {
  /** Undefined: the list of the settings. */
  url: string | undefined;
  progress: Progress;
  signal?: AbortSignal | undefined;
}

/**
 * Reads a list of names from a URL, unless it is still what it was.
 * @throws E_USAGE without a URL or with --offline, and as updateListfile
 */
export async function runListfileUpdate(
  options: GlobalOptions,
  { url: asked, progress, signal }: ListfileUpdateRequest,
): Promise<ListfileUpdate> {
  const url = listUrl(asked ?? options.settings.listfile.url);
  if (options.offline) {
    throw new PakratError('E_USAGE', 'listfile update fetches, and --offline forbids that', {
      hint: 'Leave --offline away, or import a file: `pakrat listfile import FILE`.',
    });
  }
  const { connectMs, idleMs, attemptsPerHost: attempts } = options.settings.network;
  const store = openStore(options.store, { create: true });
  try {
    const { HttpClient } = await import('../cdn/transport/http.ts');
    const http = new HttpClient({ connectMs, idleMs, connections: 1 });
    const onProgress = (done: number, total: number): void => progress.update({ phase: 'names', done, total });
    try {
      return await updateListfile(store, http, url, { attempts, signal, onProgress });
    } finally {
      progress.end();
      await http.close();
    }
  } finally {
    store.close();
  }
}

function listUrl(text: string): string {
  if (text === '') {
    throw new PakratError('E_USAGE', 'no list of names is set', {
      hint: 'Name one with --url, or set listfile.url in the file that PAKRAT_CONFIG names.',
    });
  }
  if (!/^https?:\/\/[^/]/i.test(text) || !URL.canParse(text)) {
    throw new PakratError('E_USAGE', `${JSON.stringify(text)} is no http or https URL`, {
      hint: 'A file is read by `pakrat listfile import FILE`.',
    });
  }
  return text;
}

/** What an update did, for people. */
export function renderListfileUpdate({ modified, bytes, rows, ids, added, changed, removed }: ListfileUpdate): string {
  if (!modified) return `The list is what it was: ${formatCount(rows)} names.`;
  const fetched = `${formatCount(rows)} names read, ${formatBytes(bytes)} fetched`;
  const news = `${formatCount(added)} new, ${formatCount(changed)} changed, ${formatCount(removed)} removed`;
  return `${fetched}: ${news}. ${formatCount(ids)} ids have a name now.`;
}
