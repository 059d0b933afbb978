export default {
  testEnvironment: '<rootDir>/test/support/plain-globals.js',
  // Only a hang should reach it, however busy the machine is.
  testTimeout: 120_000,
  // A core that jest would keep free is idle: tests that start the program mostly wait for it.
  maxWorkers: '100%',
  // What tests leave in a process is never let go of, and is looked through each time garbage is collected: the last of a hundred take ten times as long.
  workerIdleMemoryLimit: '300MB',
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
