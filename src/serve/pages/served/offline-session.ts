import { Session } from '../../../app/session/session.ts';

/** Another session on the same store that asks no network, whatever the first one may: for those who only show what is held. Needs `close`. */
export function offlineSession({ options }: Session): Session {
  const { store, region, locale, settings, keys } = options;
  const offline = new Session({ store, region, locale, settings, offline: true, threads: 0 });
  offline.options.keys = keys;
  return offline;
}
