import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { isPakratError, resultUnless } from '../../../core/errors.ts';
import { Ledger } from '../../../store/ledger/ledger.ts';
import type { BuildIdentity } from '../../../store/ledger/rows.ts';
import { mergeSpans, type Span } from '../../../store/spans.ts';
import type { ImportReport } from '../import-report.ts';
import { isPlausible } from './foreign-builds.ts';

/** Another store, as its ledger tells of it. Needs `close`. */
export interface ForeignStore {
  /** The oldest first. */
  builds: BuildIdentity[];
  /** What it claims to hold of an object, merged and in order; undefined where it says nothing. */
  claimsOf: (path: string) => readonly Span[] | undefined;
  /** Gives what the version services said to another ledger. */
  giveAnswers: (ledger: Ledger) => void;
  close(): void;
}

/** Opens the store in a folder, to be read; undefined when it is none. A ledger that cannot be read is told: its objects can be taken without it. */
export function openForeignStore(root: string, report: ImportReport): ForeignStore | undefined {
  const path = join(root, 'ledger.db');
  if (!existsSync(path)) return undefined;
  try {
    return foreignStore(new Ledger(path, { readOnly: true }));
  } catch (error) {
    if (!isPakratError(error)) throw error;
    report.unknown.push({
      name: 'ledger.db',
      message: `it cannot be read (${error.message}); objects are taken without it`,
    });
    return { builds: [], claimsOf: () => undefined, giveAnswers: () => {}, close: () => {} };
  }
}

function foreignStore(ledger: Ledger): ForeignStore {
  const known = new Set([...ledger.objects()].map(({ path }) => path));
  return {
    builds: ledger.builds().filter(isPlausible).reverse(),
    claimsOf: (path) => (known.has(path) ? claimed(ledger, path) : undefined),
    giveAnswers: (own) => giveAnswers(ledger, own),
    close: () => ledger.close(),
  };
}

/** A damaged ledger may claim anything: then nothing is known of the object. */
function claimed(ledger: Ledger, path: string): Span[] | undefined {
  return resultUnless(isPakratError, () => mergeSpans(ledger.spans(path)));
}

const endpoints = ['versions', 'cdns', 'bgdl'];

function giveAnswers(from: Ledger, to: Ledger): void {
  resultUnless(isPakratError, () => {
    for (const product of from.askedProducts())
      for (const endpoint of endpoints)
        for (const answer of from.answers(product, endpoint).reverse()) to.addAnswer(product, endpoint, answer);
  });
}
