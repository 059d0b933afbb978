import { mergeSpans, spanBytes } from '../../store/spans.ts';
import type { Store } from '../../store/store.ts';
import type { KnownObject } from '../known-objects.ts';
import type { ProofTask } from './proof-tasks.ts';

/**
 * How a thread proves what is held of an object; undefined for what it cannot: objects of other forms, those that are encrypted as a whole, and
 * those of which the ledger's claims cannot be right.
 */
export function proofTask(store: Store, object: KnownObject): ProofTask | undefined {
  const { path, name, form, complete, lost, size } = object;
  const isArchive = form === 'archive';
  if (!isArchive && (form !== 'loose' || lost || !complete)) return undefined;
  if (store.objectKeys.keyOf(path) !== undefined) return undefined;
  const claimed = isArchive ? store.ledger.spans(path) : [{ start: 0, end: size }];
  const spans = mergeSpans(claimed);
  if (spans.length === 0 || spans.length !== claimed.length) return undefined;
  return {
    path,
    name,
    file: store.file(path),
    index: isArchive ? store.file(`${path}.index`) : undefined,
    wholeSize: complete ? size : undefined,
    spans,
    size: spanBytes(spans),
  };
}
