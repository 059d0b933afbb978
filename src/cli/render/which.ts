import type { FileInBuild, WhichReport } from '../../app/which.ts';
import { formatCount } from '../../core/quantities.ts';
import { type Column, renderTable } from '../terminal/table.ts';
import { problemLine } from './problems.ts';

const columns: readonly Column[] = [
  { title: 'product' },
  { title: 'build' },
  { title: 'file' },
  { title: 'size', align: 'right' },
  { title: 'store' },
  { title: 'ckey' },
];

/** A file through the builds in words: a line for each that has it or has it no more, then those that cannot be read. */
export function renderWhich({ builds }: WhichReport, width: number): string {
  const shown = builds.filter(({ change }) => change !== null && change !== 'absent');
  const lines = [renderTable(columns, shown.map(rowOf), width)];
  const absent = builds.filter(({ change }) => change === 'absent').length;
  if (absent > 0) lines.push('', `${formatCount(absent)} do not have it, nor did those before them`);
  const unread = builds.flatMap(({ product, name, problem }) =>
    problem === undefined ? [] : problemLine(`${product}@${name}`, problem.message),
  );
  if (unread.length > 0) lines.push('', 'cannot be read without a network:', ...unread);
  return lines.join('\n');
}

function rowOf({ product, name, change, size, held, ckey }: FileInBuild): string[] {
  if (change === 'gone') return [product, name, change];
  return [product, name, change ?? '', size === null ? '' : formatCount(size), held ? 'held' : '', ckey ?? ''];
}
