'use strict';
import('../dist/run.js');
