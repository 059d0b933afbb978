import { type SourceOptions, withSource } from './session/open-source.ts';
import type { Session } from './session/session.ts';

/** Tells what a source is, as plain JSON. @throws as opening it does */
export function readInfo(
  session: Session,
  name: string,
  options: SourceOptions = {},
): Promise<Record<string, unknown>> {
  return withSource(session, name, { ...options, tellNotes: false }, ({ source }) => source.info());
}
