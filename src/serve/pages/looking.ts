import type { Session } from '../../app/session/session.ts';
import type { Serving } from '../serving.ts';
import type { ServedSources } from './served/served-sources.ts';

/** What the views look at: the store that is served, and what of it and beside it is open. */
export interface Looking extends Pick<Serving, 'store'> {
  /** Without a network: to look at something fetches nothing. */
  readonly session: Session;
  readonly sources: ServedSources;
  /** Aborted when the server ends. */
  readonly signal: AbortSignal;
}
