import { describe, expect, test } from '@jest/globals';
import {
  canRedraw,
  createProgress,
  noteLine,
  type ProgressState,
  showProgress,
} from '../../../src/cli/terminal/progress.ts';

const MiB = 1024 * 1024;
/** Erases the rest of a line on a terminal. */
const erase = '\x1b[K';

/** Progress with a clock in our hands, and what it wrote. */
function watched(options: { isTty?: boolean; quiet?: boolean; columns?: number; afterMs?: number } = {}) {
  const written: string[] = [];
  const clock = { ms: 1000 };
  const progress = createProgress({
    stream: { write: (text: string) => written.push(text), columns: options.columns ?? 120 },
    isTty: options.isTty ?? true,
    quiet: options.quiet ?? false,
    afterMs: options.afterMs,
    now: () => clock.ms,
  });
  return { written, clock, progress };
}

const state = (done: number, more: Partial<ProgressState> = {}): ProgressState => ({
  phase: 'data',
  done: done * MiB,
  total: 100 * MiB,
  files: { done, total: 1000 },
  hosts: ['us.cdn.test', 'level3.test'],
  ...more,
});

/** What a terminal shows after all that was written. */
function screen(written: string[]): string[] {
  const lines = [''];
  for (const text of written.join('').replaceAll(erase, '\x0b')) {
    if (text === '\n') lines.push('');
    else if (text === '\r') lines[lines.length - 1] = `\r${lines.at(-1)}`;
    else if (text === '\x0b') lines[lines.length - 1] = /^\r/.test(lines.at(-1)!) ? '' : lines.at(-1)!;
    else lines[lines.length - 1] = lines.at(-1)!.replace(/^\r.*/, '') + text;
  }
  return lines;
}

describe('on a terminal', () => {
  test('a bar with share, bytes, rate, time left, files and hosts', () => {
    const { written, clock, progress } = watched({ columns: 160 });
    progress.update(state(0));
    clock.ms += 5000;
    progress.update(state(40));
    progress.end();
    expect(written.at(-2)).toContain('data  [===========');
    expect(written.at(-2)).toContain(
      '   40 %  40 MiB of 100 MiB  8.0 MiB/s  7.5 s left  40 of 1,000 files  us.cdn.test level3.test',
    );
  });

  test('the rate is that of the last ten seconds, and falls when nothing comes', () => {
    const { written, clock, progress } = watched();
    for (let second = 0; second <= 30; second++) {
      progress.update(state(second < 20 ? 0 : (second - 20) * 2));
      clock.ms += 1000;
    }
    clock.ms += 9000;
    progress.update(state(20));
    progress.end();
    const rates = written.map((text) => /([\d.]+) [KM]?i?B\/s/.exec(text)?.[0]);
    expect(rates).toContain('2.0 MiB/s');
    expect(rates.at(-2)).not.toBe('2.0 MiB/s');
  });

  test('is drawn at most ten times a second, each time in place and in one write', () => {
    const { written, clock, progress } = watched();
    for (let i = 0; i < 1000; i++) {
      progress.update(state(i / 20));
      clock.ms += 1;
    }
    progress.end();
    expect(written.length).toBeGreaterThan(8);
    expect(written.length).toBeLessThanOrEqual(12);
    for (const text of written) expect(text.replace(erase, '<erase>')).toMatch(/^\r[^\n\r]*<erase>$/);
  });

  test.each([20, 40, 60, 80, 100])('never wraps at %i columns, and keeps the figures before the hosts', (columns) => {
    const { written, clock, progress } = watched({ columns });
    progress.update(state(0));
    clock.ms += 1000;
    progress.update(state(50));
    progress.end();
    for (const text of written) expect(text.replace('\r', '').replace(erase, '').length).toBeLessThan(columns);
    expect(written[1]).toContain('50 %');
    if (columns >= 60) expect(written[1]).toContain('[=====');
  });

  test('what is done in a moment needs no bar, and its notes come at once', () => {
    const { written, clock, progress } = watched({ afterMs: 1000 });
    progress.update(state(1));
    clock.ms += 900;
    progress.update(state(2));
    progress.note('a note');
    expect(written).toEqual(['a note\n']);
    clock.ms += 100;
    progress.update(state(3));
    progress.end();
    expect(written[1]).toContain('3 %');
  });

  test('a note stands above the bar, and the end leaves a free line', () => {
    const { written, progress } = watched();
    progress.update(state(10));
    progress.note('host \x1b[2Ja is slow');
    expect(screen(written)[0]).toBe('host \\x1b[2Ja is slow');
    expect(screen(written)[1]).toContain('10 %');
    progress.end();
    expect(screen(written)).toEqual(['host \\x1b[2Ja is slow', '']);
  });

  test('a step of which no byte came yet is its name alone: 0 B/s would look like a stall', () => {
    const { written, clock, progress } = watched();
    const step = { phase: '7 archive indices', done: 0, total: 0 };
    progress.update(step);
    clock.ms += 500;
    progress.update({ ...step, done: 3 * MiB });
    progress.end();
    expect(written[0]).toBe(`\r7 archive indices${erase}`);
    expect(written[1]).toBe(`\r7 archive indices  3.0 MiB  6.0 MiB/s${erase}`);
  });

  test.each([
    [40, 'data   50 %  10 MiB/s  5.0 s left'],
    [28, 'data   50 %  10 MiB/s'],
    [16, 'data   50 %'],
  ])('at %i columns rate and time left stand in place of the bar, as far as there is room', (columns, line) => {
    const { written, clock, progress } = watched({ columns });
    progress.update(state(0));
    clock.ms += 5000;
    progress.update(state(50));
    progress.end();
    expect(written[1]).toBe(`\r${line}${erase}`);
  });

  test('a total that is not known yet shows no share', () => {
    const { written, progress } = watched();
    progress.update(state(3, { total: 0, phase: 'indices' }));
    progress.end();
    expect(written[0]).toContain('indices  3.0 MiB  ');
    expect(written[0]).not.toContain('%');
  });
});

describe('elsewhere', () => {
  test('a line every ten seconds', () => {
    const { written, clock, progress } = watched({ isTty: false });
    for (let second = 0; second < 35; second++) {
      progress.update(state(second));
      clock.ms += 1000;
    }
    progress.end();
    expect(written).toHaveLength(3);
    expect(written[1]).toBe(
      'data   20 %  20 MiB of 100 MiB  1.0 MiB/s  1 min 20 s left  20 of 1,000 files  us.cdn.test level3.test\n',
    );
  });

  test('notes are lines', () => {
    const { written, progress } = watched({ isTty: false });
    progress.note('one');
    progress.end();
    expect(written).toEqual(['one\n']);
  });
});

test('quiet is quiet', () => {
  const { written, clock, progress } = watched({ quiet: true });
  progress.update(state(1));
  clock.ms += 60_000;
  progress.update(state(2));
  progress.note('x');
  progress.end();
  expect(written).toEqual([]);
});

test('events become what is shown: hosts stand beside the data, a step has bytes and no end, entries have no bytes', () => {
  const { written, clock, progress } = watched({ columns: 160 });
  const show = showProgress(progress);
  show({ type: 'step', step: 'configs', bytes: 2048 });
  show({ type: 'host', hosts: ['us.cdn.test'] });
  for (const done of [0, MiB]) {
    clock.ms += 1000;
    show({ type: 'bytes', phase: 'data', done, total: 4 * MiB, files: { done: 3, total: 9 } });
  }
  clock.ms += 1000;
  show({ type: 'bytes', phase: 'verify', done: MiB, total: 2 * MiB });
  clock.ms += 1000;
  show({ type: 'entry', phase: 'builds', done: 5, total: 1000 });
  const shown = written.map((text) => text.replace(/^\r/, '').replace(erase, ''));
  progress.end();
  expect(shown[0]).toMatch(/^configs {2}2\.0 KiB {2}/);
  expect(shown[2]).toMatch(
    /^data .* 1\.0 MiB of 4\.0 MiB {2}1\.0 MiB\/s {2}3\.0 s left {2}3 of 9 files {2}us\.cdn\.test$/,
  );
  expect(shown[3]).toMatch(/^verify .* 1\.0 MiB of 2\.0 MiB {2}0 B\/s$/);
  expect(shown[4]).toBe('builds  5 of 1,000');
});

test('of several builds the one that is worked on stands in front, and its rate is its own', () => {
  const { written, clock, progress } = watched({ columns: 160 });
  const show = showProgress(progress);
  const last = (): string => written.at(-1)!.replace(/^\r/, '').replace(erase, '');
  for (const number of [1, 2]) {
    show({ type: 'build', name: `wow@1.${number}`, number, of: 2 });
    for (const done of [0, MiB]) {
      clock.ms += 1000;
      show({ type: 'bytes', phase: 'data', done, total: 4 * MiB });
    }
    expect(last()).toMatch(new RegExp(`^${number} of 2 wow@1\\.${number} data .* 1\\.0 MiB/s`));
  }
});

test('trouble with a host stands beside the phase until bytes come again', () => {
  const { written, clock, progress } = watched({ columns: 100 });
  const show = showProgress(progress);
  const problem = 'cdn1: refused, next try in 2 s, 3 of 5';
  const last = (): string => written.at(-1)!.replace(/^\r/, '').replace(erase, '');
  show({ type: 'bytes', phase: 'data', done: MiB, total: 4 * MiB });
  clock.ms += 1000;
  show({ type: 'host', hosts: ['cdn1'], problem });
  expect(last()).toContain(`25 %  ${problem}  1.0 MiB of`);
  clock.ms += 1000;
  show({ type: 'bytes', phase: 'data', done: MiB, total: 4 * MiB });
  expect(last()).toContain(problem);
  clock.ms += 1000;
  show({ type: 'host', hosts: ['cdn1'], problem: undefined });
  expect(last()).toMatch(/0 B\/s {2}cdn1$/);
  clock.ms += 1000;
  show({ type: 'step', step: 'configs', bytes: 0 });
  clock.ms += 1000;
  show({ type: 'host', hosts: [], problem });
  expect(last()).toBe(`configs  ${problem}`);
});

test('a note is a line of its own, and a sentence', () => {
  expect(noteLine('no name matches *.x')).toBe('Note: no name matches *.x.');
  expect(noteLine('no name matches *.x. Did you mean y?')).toBe('Note: no name matches *.x. Did you mean y?');
  const { written, progress } = watched();
  showProgress(progress)({ type: 'note', text: 'a name came twice' });
  expect(written).toEqual(['Note: a name came twice.\n']);
});

test.each([
  [{ isTTY: true, columns: 80 }, {}, true],
  [{ isTTY: true }, { TERM: 'xterm-256color', CI: 'false' }, true],
  [{ isTTY: true, columns: 0 }, {}, false],
  [{ isTTY: true, columns: 80 }, { TERM: 'dumb' }, false],
  [{ isTTY: true, columns: 80 }, { CI: 'true' }, false],
  [{ columns: 80 }, {}, false],
])('a bar is drawn where a line can be drawn over: %j with %j', (stream, env, can) => {
  expect(canRedraw(stream, env as NodeJS.ProcessEnv)).toBe(can);
});

test('as long as nobody has counted them, files are told without how many there are', () => {
  const { written, clock, progress } = watched({ columns: 100 });
  progress.update({ phase: 'extract', done: MiB, total: 0, files: { done: 435, total: 0 } });
  clock.ms += 1000;
  progress.update({ phase: 'extract', done: 2 * MiB, total: 0, files: { done: 1435, total: 0 } });
  expect(written.at(-1)).toContain('1,435 files');
  progress.end();
});
