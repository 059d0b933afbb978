import type { WatchEvent } from '../../app/watch.ts';
import { formatBytes, formatDuration } from '../../core/quantities.ts';
import { oneLine } from '../terminal/text.ts';

/** An event in words: its time, and one line, whatever the message is. */
export function renderEvent(event: WatchEvent): string {
  return `${event.time.slice(0, 19).replace('T', ' ')}  ${oneLine(textOf(event))}`;
}

function textOf(event: WatchEvent): string {
  switch (event.event) {
    case 'watching':
      return `watching ${event.products.join(', ')}`;
    case 'found':
      return `${event.product}@${event.name} is live`;
    case 'synced':
      return `${event.product}@${event.build.name} is held: ${formatBytes(event.fetched.bytes)} fetched in ${formatDuration(event.seconds)}`;
    case 'forgot':
      return `${event.builds.map(({ product, name }) => `${product}@${name}, `).join('')}${formatBytes(event.bytes)} forgotten`;
    case 'trouble':
      return `${event.product ?? 'giving space back'}: ${event.message} (${event.code}); it is tried again`;
    case 'recovered':
      return `${event.product ?? 'giving space back'}: the trouble is over`;
  }
}
