import type { Session } from '../app/session/session.ts';
import type { Store } from '../store/store.ts';
import type { Answers } from './answers/answers.ts';
import type { Metrics } from './metrics/metrics.ts';
import type { PullThrough } from './pull/pull-through.ts';
import type { ServeOptions } from './serve-options.ts';

export type { ServeOptions } from './serve-options.ts';

/** The store that is served, and the name of the server. Its routes share it. */
export interface Serving {
  readonly session: Session;
  readonly store: Store;
  readonly options: ServeOptions;
  /** What fetches that which is missing; undefined where nothing is fetched. */
  readonly pull?: PullThrough | undefined;
  /** `host[:port]` as clients reach the server. Never what a request says. */
  readonly publicHost: () => string;
  /** What the version services of the server say. */
  readonly answers: Answers;
  /** Figures of what the server does. */
  readonly metrics: Metrics;
}
