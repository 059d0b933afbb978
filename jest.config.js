import { availableParallelism } from 'node:os';

export default {
  testEnvironment: '<rootDir>/test/support/plain-globals.js',
  // Only a hang should reach it, however busy the machine is.
  testTimeout: 120_000,
  // Two more than there are cores: tests that start the program mostly wait for it, and some for a host that is slow.
  maxWorkers: availableParallelism() + 2,
  // What tests leave in a process is never let go of, and slows those behind them: a file of 8 s takes 17 where 300 MB are left. A new process takes 0.3 s.
  workerIdleMemoryLimit: '80MB',
  globalSetup: '<rootDir>/test/support/scratch-in-memory.js',
  roots: ['<rootDir>/test'],
  setupFilesAfterEnv: ['<rootDir>/test/support/equal-bytes.ts'],
  extensionsToTreatAsEsm: ['.ts'],
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      {
        jsc: { parser: { syntax: 'typescript' }, target: 'es2022', experimental: { keepImportAttributes: true } },
        module: { type: 'es6' },
        sourceMaps: 'inline',
      },
    ],
  },
};
