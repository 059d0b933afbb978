import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { PakratError } from '../../core/errors.ts';
import type { Serving } from '../serving.ts';
import { addAssets } from './assets.ts';
import { fromFormValue, paths } from './links.ts';
import type { Looking } from './looking.ts';
import { sendPage, type View } from './page.ts';
import { sendEvents } from './send/send-events.ts';
import { sendFile } from './send/send-file.ts';
import { sendSelection } from './send/send-selection.ts';
import { offlineSession } from './served/offline-session.ts';
import type { LinkedFile } from './served/place.ts';
import { parseQuery } from './served/search-names.ts';
import { ServedSources } from './served/served-sources.ts';
import { plainName } from './text.ts';
import { browseView } from './views/browse-view.ts';
import { buildView } from './views/build-view.ts';
import { Comparisons, diffView } from './views/diff-view.ts';
import { fetchingHead, fetchingView } from './views/fetching-view.ts';
import { fileView } from './views/file-view.ts';
import { historyView } from './views/history-view.ts';
import { keysView } from './views/keys-view.ts';
import { overview } from './views/overview.ts';
import { GcPlans, spaceView } from './views/space-view.ts';

/**
 * The page for people: what the store holds. Its views lie below `/-/`, which no product and no CDN path is called. They only show: nothing is
 * fetched and nothing is changed, whoever looks.
 */
export function addPageRoutes(app: FastifyInstance, { session, store, options }: Serving): void {
  const ended = new AbortController();
  const own = offlineSession(session);
  const sources = new ServedSources(own, options.sources ?? []);
  const looking: Looking = { store, session: own, sources, signal: ended.signal };
  app.addHook('preClose', async () => ended.abort());
  app.addHook('onClose', async () => {
    await sources.close();
    await own.close();
  });
  app.register(async (pages) => {
    pages.setErrorHandler((error, _request, reply) =>
      sendPage(reply, { title: 'Not shown', main: () => Promise.reject(error) }),
    );
    addAssets(pages);
    addViews(pages, looking);
    addContents(pages, looking);
  });
}

function addViews(pages: FastifyInstance, looking: Looking): void {
  const [comparisons, plans] = [new Comparisons(), new GcPlans()];
  const view = (path: string, make: (query: Query) => Omit<View, 'within'> | Promise<Omit<View, 'within'>>): void => {
    pages.get(path, async (request, reply) => sendPage(reply, { within: path, ...(await make(new Query(request))) }));
  };
  view(paths.overview, () => ({ title: 'What is held', main: () => overview(looking) }));
  view(paths.build, async (query) => {
    const { label } = await looking.sources.get(query.text('in'));
    return { title: plainName(label), main: () => buildView(looking, query.text('in'), query.number('from')) };
  });
  view(paths.browse, async (query) => {
    const [id, folder] = [query.text('in'), query.folder()];
    const { label } = await looking.sources.get(id);
    const browsing = { id, folder, query: query.text('q'), from: query.number('from') };
    parseQuery(browsing.query);
    return {
      title: plainName(folder === '' ? label : folder),
      main: () => browseView(looking, browsing),
      isSlow: !looking.sources.isReady(id),
    };
  });
  view(paths.file, async (query) => {
    const [id, file] = [query.text('in'), query.file()];
    await looking.sources.get(id);
    const last = file.name.split('/').at(-1) || file.name || 'A file';
    return { title: plainName(last), main: () => fileView(looking, id, file), isSlow: !looking.sources.isReady(id) };
  });
  view(paths.keys, async (query) => {
    const { label } = await looking.sources.get(query.text('in'));
    return {
      title: `Missing keys: ${plainName(label)}`,
      main: () => keysView(looking, query.text('in')),
      isSlow: true,
    };
  });
  view(paths.diff, async (query) => {
    const comparing = {
      before: query.text('before'),
      after: query.text('after'),
      kind: query.text('kind'),
      from: query.number('from'),
    };
    for (const id of [comparing.before, comparing.after]) if (id !== '') await looking.sources.get(id);
    return { title: 'Compare', main: () => diffView(looking, comparisons, comparing), isSlow: true };
  });
  view(paths.history, (query) => ({
    title: 'History of a file',
    main: () => historyView(looking, query.text('name').trim()),
    isSlow: query.text('name') !== '',
  }));
  view(paths.fetching, () => ({ title: 'Fetching now', head: fetchingHead, main: () => fetchingView(looking) }));
  view(paths.space, () => ({ title: 'Space', main: () => spaceView(looking, plans), isSlow: true }));
}

function addContents(pages: FastifyInstance, looking: Looking): void {
  const send = (request: FastifyRequest, reply: FastifyReply, as: 'file' | 'picture'): Promise<FastifyReply> => {
    const query = new Query(request);
    return sendFile(reply, looking, { id: query.text('in'), file: query.file(), as });
  };
  pages.get(paths.download, async (request, reply) => send(request, reply, 'file'));
  pages.get(paths.raw, async (request, reply) => send(request, reply, 'picture'));
  // What has no end is not begun for its head alone.
  const endless = { exposeHeadRoute: false };
  pages.get(paths.fetchingEvents, endless, async (_request, reply) => sendEvents(reply, looking));
  pages.get(paths.selection, endless, async (request, reply) => {
    const query = new Query(request);
    const [files, folders] = [query.all('f'), query.all('d')];
    // The form of a listing always says where it stood: nothing ticked there is not everything.
    if (query.has('below') && files.length + folders.length === 0)
      throw new PakratError('E_USAGE', 'nothing was ticked');
    const selection = { files, folders, below: query.folder(), query: query.text('q') };
    return sendSelection(reply, looking, { id: query.text('in'), selection, format: query.format() });
  });
}

/** The parameters of a request. The first of several counts. */
class Query {
  readonly #values: URLSearchParams;

  constructor({ url }: FastifyRequest) {
    this.#values = new URLSearchParams(/\?(.*)$/s.exec(url)?.[1] ?? '');
  }
  text(name: string): string {
    return this.#values.get(name) ?? '';
  }
  has(name: string): boolean {
    return this.#values.has(name);
  }
  all(name: string): string[] {
    return this.#values.getAll(name);
  }
  number(name: string): number {
    const text = this.text(name);
    return /^\d{1,15}$/.test(text) ? Number(text) : 0;
  }
  file(): LinkedFile {
    const name = this.text('name');
    const index = this.text('index') === '' ? undefined : this.number('index');
    return this.has('at') ? { name, index, place: this.text('at') } : { name, index };
  }
  /** The folder that a link names, or the search form. */
  folder(): string {
    return this.text('folder') || fromFormValue(this.text('below'));
  }
  /** @throws E_USAGE */
  format(): 'zip' | 'tar' {
    const format = this.text('format');
    if (format === 'zip' || format === 'tar') return format;
    throw new PakratError('E_USAGE', 'choose zip or tar');
  }
}
