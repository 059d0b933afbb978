#!/usr/bin/env node
'use strict';
// Every Node can read this file, so that an old one is told of: no syntax newer than ES2015, and nothing is loaded before the check.
const wanted = /(\d+)\.(\d+)/.exec(require('../package.json').engines.node);
const found = /(\d+)\.(\d+)/.exec(process.versions.node);

if (found[1] - wanted[1] < 0 || (found[1] === wanted[1] && found[2] - wanted[2] < 0)) {
  console.error(`pakrat needs Node.js ${wanted[0]} or newer, and this is ${process.versions.node}.`);
  process.exitCode = 1;
} else {
  require('./start.js');
}
