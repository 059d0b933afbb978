import { archiveOf, type VerifyProblem } from '../../app/verify.ts';
import { formatCount, plural } from '../../core/quantities.ts';
import { oneLine, printable } from '../terminal/text.ts';

/** A problem with a file, on one line that a terminal shows as it is: names come from outside. Messages often start with the name. */
export function problemLine(name: string, message: string): string {
  const isNamed = message.startsWith(`${name}:`) || message.startsWith(`${name} `);
  return `  ${printable(oneLine(isNamed ? message : `${name}: ${message}`))}`;
}

/** Names that are shown at most: where a key is unverified, all files are unsure. */
const maxUnsureLines = 20;

/** Files that may be wrong although nothing tells, in words. */
export function unsureLines(names: readonly string[]): string[] {
  const more = names.length - maxUnsureLines;
  return [
    `${formatCount(names.length)} may be wrong, for nothing tells whether they were decrypted right (unverified):`,
    ...names.slice(0, maxUnsureLines).map((name) => `  ${printable(name)}`),
    ...(more > 0 ? [`  and ${formatCount(more)} more; --json names all`] : []),
  ];
}

/** Entries of one archive that have the same trouble share one line: there are thousands when its file is gone. */
export function groupedProblems(bad: readonly VerifyProblem[]): { name: string; message: string }[] {
  const groups = new Map<string, { name: string; message: string; archive: string; count: number }>();
  for (const problem of bad) {
    const { name, message, count = 1 } = problem;
    const archive = count === 1 ? archiveOf(problem) : name;
    const key = archive === undefined ? `${groups.size}` : `${archive} ${message}`;
    const known = groups.get(key);
    if (known === undefined) groups.set(key, { name, message, archive: archive ?? name, count });
    else known.count += count;
  }
  return [...groups.values()].map(({ name, message, archive, count }) =>
    count === 1 ? { name, message } : { name: archive, message: `${plural(count, 'entry', 'entries')}: ${message}` },
  );
}
