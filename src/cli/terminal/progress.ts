import type { OnProgress, Progress as ProgressEvent } from '../../core/progress.ts';
import { formatBytes, formatCount, formatDuration, plural } from '../../core/quantities.ts';
import { printable, printableBlock, textWidth, truncateText } from './text.ts';

/** The state of lasting work. */
export interface ProgressState {
  /** The build that is worked on, of several: `2 of 5 wow@1.2`. */
  build?: string | undefined;
  /** One word for what is being done: `indices`, `data`. A new one starts the rate again. */
  phase: string;
  /** Bytes done, and bytes in all; 0 in all when that is not known yet. */
  done: number;
  total: number;
  files?: { done: number; total: number } | undefined;
  /** Of a phase without bytes: what its name says, builds or names, done and in all. */
  entries?: { done: number; total: number } | undefined;
  /** Hosts that are being asked now. */
  hosts?: readonly string[] | undefined;
  /** Trouble with one of them: it is shown in place of the hosts, and before the amounts. */
  problem?: string | undefined;
}

/** Progress on a terminal or in a log. */
export interface Progress {
  /** Tells the newest state. Cheap: call it for every piece of data. */
  update(state: ProgressState): void;
  /** Prints a line for good, above the bar. */
  note(text: string): void;
  /** Takes the bar away. The line is free again; nothing is drawn after this. */
  end(): void;
}

/** Shows the events of lasting work. */
export function showProgress(progress: Progress): OnProgress {
  let hosts: readonly string[] = [];
  let problem: string | undefined;
  let state: ProgressState | undefined;
  let build: string | undefined;
  return (event) => {
    if (event.type === 'note') {
      progress.note(noteLine(event.text));
      return;
    }
    if (event.type === 'host') ({ hosts, problem } = event);
    else if (event.type === 'build') build = `${event.number} of ${event.of} ${event.name}`;
    else state = stateOf(event);
    if (state === undefined) return;
    // Written out: there may be an event for each of a million files, and a spread costs more than all else.
    const { phase, done, total, files, entries } = state;
    progress.update({ build, phase, done, total, files, entries, hosts: phase === 'data' ? hosts : [], problem });
  };
}

function stateOf(event: Exclude<ProgressEvent, { type: 'note' | 'host' | 'build' }>): ProgressState {
  if (event.type === 'step') return { phase: event.step, done: event.bytes, total: 0 };
  if (event.type === 'bytes') return event;
  return { phase: event.phase, done: 0, total: 0, entries: { done: event.done, total: event.total } };
}

/** A remark as it stands on a line of its own. */
export function noteLine(text: string): string {
  return `Note: ${text}${/[.!?]$/.test(text) ? '' : '.'}`;
}

/** True for a terminal on which a line can be drawn over: one that has a width, and is no log of a build server. */
export function canRedraw(
  { isTTY, columns }: { isTTY?: boolean | undefined; columns?: number | undefined },
  { TERM, CI }: NodeJS.ProcessEnv,
): boolean {
  return isTTY === true && columns !== 0 && TERM !== 'dumb' && (CI === undefined || CI === '' || CI === 'false');
}

interface ProgressOptions {
  stream: { write(text: string): unknown; columns?: number | undefined };
  /** A bar that is drawn in place, else a line now and then. */
  isTty: boolean;
  /** Shows nothing at all. */
  quiet: boolean;
  /** Milliseconds before the bar is drawn for the first time. */
  afterMs?: number | undefined;
  /** Milliseconds of a monotonic clock; for tests. */
  now?: () => number;
}

const barEveryMs = 100;
const lineEveryMs = 10_000;
/** The rate is that of the last ten seconds. */
const rateWindowMs = 10_000;
/** Columns of the shortest bar; for it hosts and files are left out of the line. */
const leastBar = 10;
const clearLine = '\r\x1b[K';

/** Shows progress: a bar redrawn at most ten times a second on a terminal, a line every ten seconds elsewhere. */
export function createProgress(options: ProgressOptions): Progress {
  if (options.quiet) return { update() {}, note() {}, end() {} };
  const { stream, isTty, afterMs = 0, now = () => performance.now() } = options;
  const meter = rateMeter();
  let state: ProgressState | undefined;
  let drawnAt = now() + (isTty ? afterMs - barEveryMs : 0);
  let barShown = false;
  const draw = (): void => {
    if (state === undefined) return;
    drawnAt = now();
    const line = progressLine(
      state,
      meter.rate(drawnAt),
      isTty ? (stream.columns ?? 80) - 1 : Number.POSITIVE_INFINITY,
    );
    // One write, and the rest of the line erased after it rather than before: nothing flickers.
    stream.write(isTty ? `\r${line}\x1b[K` : `${line}\n`);
    barShown = isTty;
  };
  const drawWhenDue = (): void => {
    if (now() - drawnAt >= (isTty ? barEveryMs : lineEveryMs)) draw();
  };
  // Without this a stalled transfer would show the rate of its last good moment for ever.
  const timer = setInterval(drawWhenDue, 1000).unref();
  return {
    update(next) {
      meter.add(next, now());
      state = next;
      drawWhenDue();
    },
    note(text) {
      stream.write(`${barShown ? clearLine : ''}${printableBlock(text)}\n`);
      if (barShown) draw();
    },
    end() {
      clearInterval(timer);
      if (barShown) stream.write(clearLine);
      barShown = false;
      state = undefined;
    },
  };
}

/** Bytes a second over the last moments, of the bytes done since the phase began. */
function rateMeter(): { add(state: ProgressState, at: number): void; rate(at: number): number } {
  let samples: { at: number; done: number }[] = [];
  let current: Pick<ProgressState, 'build' | 'phase'> | undefined;
  return {
    add(state, at) {
      const { build, phase, done } = state;
      const last = samples.at(-1);
      if (current?.build !== build || current?.phase !== phase || last === undefined || done < last.done) {
        current = state;
        samples = [{ at, done }];
        return;
      }
      // The first sample of a slot stays, so that every update counts and few are kept.
      if (at - (samples.at(-2)?.at ?? Number.NEGATIVE_INFINITY) < rateWindowMs / 40) samples.pop();
      samples.push({ at, done });
      while (samples.length > 2 && (samples[1]?.at ?? at) <= at - rateWindowMs) samples.shift();
    },
    rate(at) {
      const first = samples[0];
      const last = samples.at(-1);
      if (first === undefined || last === undefined || at - first.at < 100) return 0;
      return ((last.done - first.done) * 1000) / (at - first.at);
    },
  };
}

/** One line about a state. With a bar, parts that do not fit the width are left out, hosts first; without room for one, the amounts are. */
function progressLine(state: ProgressState, rate: number, width: number): string {
  const { build, phase, done, total, files, entries, hosts = [], problem } = state;
  const isMoving = total > 0 || done > 0;
  const share = total > 0 ? Math.min(1, done / total) : 0;
  const percent = total > 0 ? [`${Math.floor(share * 100)} %`.padStart(5)] : [];
  const label = build === undefined ? phase : `${build} ${phase}`;
  const head = [printable(label), ...percent, ...(problem === undefined ? [] : [printable(problem)])];
  const amounts = total > 0 ? `${formatBytes(done)} of ${formatBytes(total)}` : formatBytes(done);
  const speed = [
    `${formatBytes(rate)}/s`,
    ...(rate > 0 && total > done ? [`${formatDuration((total - done) / rate)} left`] : []),
  ];
  const parts = [
    ...head,
    ...(isMoving ? [amounts, ...speed] : []),
    ...(files === undefined ? [] : [filesText(files)]),
    ...(entries === undefined ? [] : [countText(entries)]),
    ...(hosts.length === 0 || problem !== undefined ? [] : [hosts.map(printable).join(' ')]),
  ];
  const room = (): number => width - textWidth(parts.join('  ')) - 4;
  while (parts.length > Math.max(3, head.length) && room() < leastBar) parts.pop();
  if (total === 0 || !Number.isFinite(width)) return truncateText(parts.join('  '), width);
  if (room() < leastBar) {
    while (textWidth([...head, ...speed].join('  ')) > width && speed.length > 0) speed.pop();
    return truncateText([...head, ...speed].join('  '), width);
  }
  parts.splice(1, 0, bar(share, Math.min(30, room())));
  return parts.join('  ');
}

/** In all it is 0 as long as nobody has counted. */
function filesText({ done, total }: { done: number; total: number }): string {
  return total === 0 ? plural(done, 'file', 'files') : `${formatCount(done)} of ${plural(total, 'file', 'files')}`;
}

function countText({ done, total }: { done: number; total: number }): string {
  return total === 0 ? formatCount(done) : `${formatCount(done)} of ${formatCount(total)}`;
}

function bar(share: number, width: number): string {
  const filled = Math.floor(share * width);
  return `[${'='.repeat(filled)}${share < 1 ? '>' : ''}${' '.repeat(Math.max(0, width - filled - (share < 1 ? 1 : 0)))}]`;
}
