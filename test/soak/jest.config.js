import base from '../../jest.config.js';

/* The long tests: minutes, not seconds. One at a time, for they measure. */
export default { ...base, rootDir: '../..', testMatch: ['<rootDir>/test/soak/*.soak.ts'], maxWorkers: 1 };
