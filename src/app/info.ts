import { throttled } from '../core/progress.ts';
import { type OpenOptions, withSource } from './session/open-source.ts';
import type { Session } from './session/session.ts';

/** Tells what a source is, as plain JSON. @throws as opening it does */
export function readInfo(session: Session, name: string, options: OpenOptions = {}): Promise<Record<string, unknown>> {
  const onProgress = throttled(options.onProgress);
  return withSource(session, name, { ...options, onProgress, tellNotes: false }, ({ source }) => source.info());
}
