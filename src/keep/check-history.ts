import { isStoreTrouble, type PakratError } from '../core/errors.ts';
import { plural } from '../core/quantities.ts';
import { isSpoilt } from '../files/durable.ts';
import { clearWay } from '../store/clear-way.ts';
import { appendHistory, knownDamage, readHistory, renewHistory } from '../store/history/history-file.ts';
import { type HistoryLine, lastingKey } from '../store/history/lines.ts';
import { Ledger } from '../store/ledger/ledger.ts';
import type { Store } from '../store/store.ts';
import type { VerifyProblem } from '../verify/verify-result.ts';

const fileName = 'history.jsonl';

/** What a store's history file says, as a ledger in memory that followed it. Needs `close`. */
export interface KeptHistory {
  ledger: Ledger;
  /** Damaged lines that are not known to be so: their numbers, by the MD5 of what stands there. */
  damaged: ReadonlyMap<string, number>;
  /** Why the file cannot be read; undefined where it can, or where there is none. */
  problem: PakratError | undefined;
  close(): void;
}

/** Reads the history file of a store, with the lines that are on their way to it. @throws E_STORE… of the ledger */
export function openHistory({ layout, ledger }: Pick<Store, 'layout' | 'ledger'>): KeptHistory {
  const kept = new Ledger(':memory:');
  const damaged = new Map<string, number>();
  let problem: PakratError | undefined;
  kept.transaction(() => {
    try {
      for (const found of readHistory(layout.history)) {
        if ('line' in found) kept.history.follow(found.line);
        else damaged.set(found.md5, found.number);
      }
    } catch (error) {
      if (!isStoreTrouble(error)) throw error;
      problem = error;
    }
    for (const line of ledger.history.waiting()) kept.history.follow(line);
  });
  return { ledger: kept, damaged, problem, close: () => kept.close() };
}

/** The outcome of a check of the history file. */
interface HistoryFinding {
  bad: VerifyProblem[];
  repaired: number;
  /** Build configs of builds that the ledger has again: nothing tells how much of them is held. */
  added: Set<string>;
}

/**
 * Holds the history file against the ledger. Lines that the file lacks are added again. With `repair` the ledger takes back what it lacks, and
 * damaged lines, of which all is there again, are not told any more. Rows that are damaged are looked at before.
 */
export function checkHistory(store: Store, { repair }: { repair: boolean }): HistoryFinding {
  if (!store.ledger.history.isKept) return { bad: [], repaired: 0, added: new Set() };
  // Nobody else writes to either of them meanwhile.
  if (!store.writable) return compareAndMend(store, { repair: false });
  // What lies in its place is nobody's history; what the ledger knows of it is written anew below.
  if (repair) clearWay(store.layout, fileName);
  const found = store.ledger.transaction(() => compareAndMend(store, { repair }));
  store.ledger.history.write();
  return found;
}

function compareAndMend(store: Store, { repair }: { repair: boolean }): HistoryFinding {
  const { ledger, layout, writable } = store;
  const found: HistoryFinding = { bad: [], repaired: 0, added: new Set() };
  const tell = (name: string, code: string, message: string, isMended: boolean): void => {
    found.bad.push({ name, code, message });
    if (isMended) found.repaired += 1;
  };
  const history = openToMend(store, repair);
  try {
    if (history.problem !== undefined) {
      tell(fileName, 'E_STORE', history.problem.message, false);
      return found;
    }
    // A row that is damaged is nothing to hold the file against.
    const isRight = ledger.damagedRows().length === 0;
    const { lacking, lost } = isRight ? compare(ledger, history.ledger) : { lacking: [], lost: [] };
    if (lost.length > 0) {
      tell('ledger.db', 'E_INTEGRITY', `it lacks ${plural(lost.length, 'row', 'rows')} that ${fileName} has`, repair);
      if (repair) found.added = addLost(ledger, lost);
    }
    if (lacking.length > 0) {
      const again = writable ? '; they are there again' : '';
      const message = `it lacked ${plural(lacking.length, 'line', 'lines')} of what the ledger knows${again}`;
      tell(fileName, 'E_INTEGRITY', message, writable);
      if (writable) ledger.history.note(lacking);
    }
    for (const number of history.damaged.values())
      tell(fileName, 'E_FORMAT_CHECKSUM', `line ${number} is damaged`, repair && isRight);
    if (repair && isRight && history.damaged.size > 0)
      appendHistory(layout.history, [...history.damaged.keys()].map(knownDamage));
    return found;
  } finally {
    history.close();
  }
}

/** A file that a broken disk does not give whole is replaced where it may be mended: what lacks then is found as in any other. */
function openToMend(store: Store, repair: boolean): KeptHistory {
  const history = openHistory(store);
  if (!repair || !isSpoilt(history.problem)) return history;
  history.close();
  renewHistory(store.layout.history, store.layout.temporary);
  return openHistory(store);
}

/** Has a ledger take back what a history has and it does not. @returns build configs of builds that came back */
export function takeBackLost(ledger: Ledger, history: KeptHistory): Set<string> {
  return addLost(ledger, compare(ledger, history.ledger).lost);
}

function addLost(ledger: Ledger, lost: readonly HistoryLine[]): Set<string> {
  const back = new Set(lost.filter(({ type }) => type === 'build').map(({ buildConfig }) => String(buildConfig)));
  for (const line of lost) {
    // Of a build that comes back, what was wanted last counts.
    if (line.type === 'selection' && back.has(String(line.buildConfig))) ledger.history.follow(line);
    else ledger.history.add(line);
  }
  return back;
}

/** The lines that the file lacks, and those that the ledger lost. */
function compare(ledger: Ledger, kept: Ledger): { lacking: HistoryLine[]; lost: HistoryLine[] } {
  const inFile = new Set<string>();
  for (const line of kept.history.lines()) inFile.add(lastingKey(line));
  const inLedger = new Set<string>();
  const lacking: HistoryLine[] = [];
  for (const line of ledger.history.lines()) {
    const key = lastingKey(line);
    inLedger.add(key);
    if (!inFile.has(key)) lacking.push(line);
  }
  const lost = [...kept.history.lines()].filter((line) => !inLedger.has(lastingKey(line)));
  return { lacking, lost };
}
