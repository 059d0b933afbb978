'use strict';
const { join } = require('node:path');
const { hasFewFiles, loadInTurn } = require('./load-in-turn.js');

// Until a command hears them itself.
for (const name of ['SIGINT', 'SIGTERM']) {
  process.on(name, () => {
    if (process.listenerCount(name) === 1) process.exit(130);
  });
}
if (hasFewFiles()) loadInTurn(join(__dirname, '../dist/chunks')).then(() => import('../dist/run.js'));
else import('../dist/run.js');
