import type { GcReport } from '../../app/gc.ts';
import type { PinnedBuild } from '../../app/pin.ts';
import { formatBytes, plural } from '../../core/quantities.ts';

/** What goes or went, in words. */
export function renderGc({ dryRun, builds, objects, bytes, diskBytes, spared, inUse, unread, kept }: GcReport): string {
  const lines = builds.map(({ product, name }) => `${dryRun ? 'would forget' : 'forgot'} ${product}@${name}`);
  const amount = `${formatBytes(bytes)} in ${plural(objects, 'object', 'objects')}`;
  const disk = `${formatBytes(diskBytes)} of the disk`;
  if (objects === 0) lines.push(`nothing ${dryRun ? 'would go' : 'went'}: all that is held is wanted`);
  else if (dryRun) lines.push(`would give back ${amount}, ${disk}`);
  else lines.push(`gave back ${amount}, ${disk}`);
  lines.push(`${formatBytes(kept.bytes)} ${dryRun ? 'would stay' : 'stay'}`);
  for (const { cdnPath, reason } of spared) lines.push(`nothing of ${cdnPath} goes: ${reason}`);
  if (inUse.length > 0)
    lines.push(`${plural(inUse.length, 'object is', 'objects are')} being fetched just now; run it again for them`);
  if (unread.length > 0) {
    const what = `${plural(unread.length, 'object', 'objects')} cannot be read`;
    lines.push(`${what}: what went there takes room still; verify with --repair, then run it again`);
  }
  return lines.join('\n');
}

/** Pins in words, a line each. */
export function renderPins(builds: readonly PinnedBuild[]): string {
  return builds.map(({ product, name, pinned }) => `${product}@${name} is ${pinned ? '' : 'not '}pinned`).join('\n');
}
