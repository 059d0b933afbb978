import { createRequire } from 'node:module';
import { TestEnvironment } from 'jest-environment-node';

/*
 * The environment of jest, with globals that are as fast as those of a program. Jest puts a proxy behind its global object, so that each
 * look at `Uint8Array` or `Number` is a call: loops over bytes take several times as long. Jest's teardown does without that proxy, too.
 */

const vm = createRequire(import.meta.url)('node:vm');

export default class PlainGlobals extends TestEnvironment {
  constructor(...args) {
    const { createContext } = vm;
    vm.createContext = () => createContext(vm.constants.DONT_CONTEXTIFY);
    try {
      super(...args);
    } finally {
      vm.createContext = createContext;
    }
  }
}
