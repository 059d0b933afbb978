'use strict';
// Until a command hears them itself.
for (const name of ['SIGINT', 'SIGTERM']) {
  process.on(name, () => {
    if (process.listenerCount(name) === 1) process.exit(130);
  });
}
import('../dist/run.js');
