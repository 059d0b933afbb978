import base from '../../jest.config.js';

/* The long tests: minutes, not seconds. One at a time, for they measure, and on a disk. */
const { globalSetup: _, ...shared } = base;
export default { ...shared, rootDir: '../..', testMatch: ['<rootDir>/test/soak/*.soak.ts'], maxWorkers: 1 };
