import { isOurTrouble, valueUnless } from '../../core/errors.ts';
import type { WorkOptions } from '../../core/progress.ts';
import type { BuildOpener } from '../../keep/build-opener.ts';
import type { Session } from './session.ts';

/** Opens builds of a session's store for those who look after it. */
export function buildOpener(session: Session, { signal, onProgress }: WorkOptions): BuildOpener {
  return {
    open: (identity, { offline }) => session.openFetched(identity, { offline, isKnown: true, signal, onProgress }),
    connect: (identity) => session.connect(identity, { signal, onProgress }),
    askAgain: async (product) => {
      await valueUnless((error) => !isOurTrouble(error), session.resolve(product, { fresh: true, signal }));
    },
  };
}
