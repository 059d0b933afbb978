'use strict';
// Loaded when it is first needed: a short command has ended by then.
const v8 = () => require('node:v8');

// Until a command hears them itself.
for (const name of ['SIGINT', 'SIGTERM']) {
  process.on(name, () => {
    if (process.listenerCount(name) === 1) process.exit(130);
  });
}
// A heap may grow to twice what is alive in it, not to four times as much, before its garbage is looked for: a quarter of the memory of long work, for a
// fiftieth of its time. That is for the program to say, and not for the library. Not at once: what Node has compiled of itself is good for the flags that it
// started with, and a short command would wait for it to be compiled again.
setTimeout(() => v8().setFlagsFromString('--heap-growing-percent=100'), 250).unref();
// What dies young has room for itself that doubles up to 32 MiB, and never gets smaller. The first thread of a sync, of an extraction, of what takes in a list
// of names, or of what publishes has nothing from more than a quarter of that; a listing of millions of names would be slower. Each thread that starts sets
// the flag back, so it is looked at often, which takes 3 µs.
const youngBytes = 8 << 20;
const roomForYoung = () =>
  v8()
    .getHeapSpaceStatistics()
    .find((space) => space.space_name === 'new_space').space_size;
const keepYoungSmall = () => {
  if (roomForYoung() >= youngBytes) v8().setFlagsFromString('--semi-space-growth-factor=1');
};
if (/^(?:sync|extract|listfile|publish)$/.test(process.argv[2])) setInterval(keepYoungSmall, 5).unref();
require('../dist/program/run.js');
