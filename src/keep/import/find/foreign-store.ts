import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { keptObjects } from '../../../builds/resolve/channel-objects.ts';
import { isPakratError, PakratError, resultUnless } from '../../../core/errors.ts';
import { md5Hex } from '../../../core/hash.ts';
import { readable } from '../../../files/read-at.ts';
import { hashFiles } from '../../../installs/read-file.ts';
import type { StoreLayout } from '../../../store/layout.ts';
import { Ledger } from '../../../store/ledger/ledger.ts';
import type { AnswerRow, BuildIdentity, BuildRow } from '../../../store/ledger/rows.ts';
import { objectKeyRow, objectKeySetting } from '../../../store/object-keys.ts';
import { mergeSpans, type Span } from '../../../store/spans.ts';
import type { Store } from '../../../store/store.ts';
import type { ImportReport } from '../import-report.ts';
import { readPlain } from '../take/entry-source.ts';
import { isPlausible } from './foreign-builds.ts';

/** A build as another ledger has it, with everything that was ever wanted of it, as JSON, the oldest first. */
export interface ForeignBuild {
  identity: BuildIdentity;
  selections: string[];
  isPinned: boolean;
}

/** Another store, as its ledger tells of it. Needs `close`. */
export interface ForeignStore {
  /** The oldest first. */
  builds: ForeignBuild[];
  /** What it claims to hold of an object, merged and in order; undefined where it says nothing. */
  claimsOf: (path: string) => readonly Span[] | undefined;
  /** Gives what the version services said to another store. */
  giveAnswers: (store: Store) => void;
  /** Gives another store the keys of objects that are encrypted one by one: without them nothing can be checked. */
  giveObjectKeys: (store: Store) => void;
  close(): void;
}

/** Opens the store in a folder, to be read; undefined when it is none. A ledger that cannot be read is told: its objects can be taken without it. */
export function openForeignStore(root: string, report: ImportReport): ForeignStore | undefined {
  const path = join(root, 'ledger.db');
  try {
    const stat = readable(path, () => lstatSync(path, { throwIfNoEntry: false }));
    if (stat === undefined) return undefined;
    if (!stat.isFile() || stat.size > mostLedgerBytes) throw new PakratError('E_FORMAT', 'it is no ledger');
    return foreignStore(root, new Ledger(path, { readOnly: true }));
  } catch (error) {
    if (!isPakratError(error)) throw error;
    report.unknown.push({
      name: 'ledger.db',
      message: `it cannot be read (${error.message}); objects are taken without it`,
    });
    return { builds: [], claimsOf: () => undefined, giveAnswers: () => {}, giveObjectKeys: () => {}, close: () => {} };
  }
}

function foreignStore(root: string, ledger: Ledger): ForeignStore {
  const foreignBuild = (row: BuildRow): ForeignBuild => ({
    identity: row,
    selections: selectionsOf(ledger, row),
    isPinned: ledger.keeping.isPinned(row),
  });
  const known = new Set([...ledger.objects()].map(({ path }) => path));
  return {
    builds: ledger.builds().filter(isPlausible).reverse().map(foreignBuild),
    claimsOf: (path) => (known.has(path) ? claimed(ledger, path) : undefined),
    giveAnswers(store) {
      giveChannels(root, store.layout);
      giveAnswers(ledger, store.ledger);
    },
    giveObjectKeys: (store) => giveObjectKeys(ledger, store),
    close: () => ledger.close(),
  };
}

/** An older ledger, which may not be written, has only the last. */
function selectionsOf(ledger: Ledger, row: BuildRow): string[] {
  const all = resultUnless(isPakratError, () => ledger.keeping.selections(row)) ?? [];
  const last = row.selection === null ? [] : [row.selection];
  return [...all.filter((selection) => selection !== row.selection), ...last];
}

function giveObjectKeys(from: Ledger, { ledger, objectKeys }: Store): void {
  resultUnless(isPakratError, () => {
    const given = objectKeyNames(from);
    const keys = from.keys().filter(({ name }) => given.some((key) => objectKeyRow(key.keyName, '', '').name === name));
    ledger.addKeys(keys.filter(({ name }) => ledger.key(name) === undefined));
    for (const { cdnPath, keyName } of given) objectKeys.learn(cdnPath, keyName);
  });
}

function objectKeyNames(ledger: Ledger): { cdnPath: string; keyName: string }[] {
  const paths = new Set(ledger.builds().map(({ cdnPath }) => cdnPath));
  return [...paths].flatMap((cdnPath) => {
    const keyName = ledger.setting(objectKeySetting(cdnPath));
    return keyName === undefined ? [] : [{ cdnPath, keyName }];
  });
}

/** A damaged ledger may claim anything: then nothing is known of the object. */
function claimed(ledger: Ledger, path: string): Span[] | undefined {
  return resultUnless(isPakratError, () => mergeSpans(ledger.spans(path)));
}

/** It is read into memory; those of large stores have some ten MB. */
const mostLedgerBytes = 1 << 30;

const endpoints = ['versions', 'cdns', 'bgdl'];
/** Answers that are about no product. */
const general = ['summary', 'channels'];

interface GivenAnswer {
  product: string;
  endpoint: string;
  answer: AnswerRow;
}

/** All answers, the oldest of each list first: each once with the time when it was first given, and once with the last. They say how old builds are. */
function answersOf(ledger: Ledger): GivenAnswer[] {
  const ofProducts = ledger.askedProducts().flatMap((product) => endpoints.map((endpoint) => ({ product, endpoint })));
  const lists = [...ofProducts, ...general.map((endpoint) => ({ product: '', endpoint }))];
  return lists.flatMap(({ product, endpoint }) => {
    const history = ledger.answerHistory(product, endpoint);
    const firstTimes = new Map(history.map(({ body, firstTime }) => [textOf(body), firstTime]));
    const answers = ledger.answers(product, endpoint).reverse();
    return answers.flatMap((answer) => [
      { product, endpoint, answer: { ...answer, time: firstTimes.get(textOf(answer.body)) ?? answer.time } },
      { product, endpoint, answer },
    ]);
  });
}

function giveAnswers(from: Ledger, to: Ledger): void {
  // A damaged ledger may have none to give.
  const answers = resultUnless(isPakratError, () => answersOf(from)) ?? [];
  to.transaction(() => {
    for (const { product, endpoint, answer } of answers) to.addAnswer(product, endpoint, answer);
  });
}

function textOf(body: Uint8Array): string {
  return Buffer.from(body).toString('latin1');
}

const mostChannelBytes = 64 << 20;

/** Catalogues and definitions of channels, by their MD5. Whoever went through the folder has told what a broken disk does not give of it. */
function giveChannels(root: string, layout: StoreLayout): void {
  const kept = keptObjects(layout);
  for (const { name, file } of hashFiles(join(root, 'channels'), () => {})) {
    if (kept.read(name) !== undefined) continue;
    const bytes = resultUnless(isPakratError, () => readPlain(file, mostChannelBytes));
    if (bytes !== undefined && md5Hex(bytes) === name) kept.add(name, bytes);
  }
}
