/* The part of WebAssembly that is used: the compiler knows it only along with all of a browser. */
declare namespace WebAssembly {
  class Memory {
    constructor(limits: { initial: number });
    readonly buffer: ArrayBuffer;
  }
  class Module {
    constructor(bytes: Uint8Array<ArrayBuffer>);
  }
  class Instance {
    constructor(module: Module, imports: { env: { memory: Memory } });
    readonly exports: { compress?: unknown };
  }
  class CompileError extends Error {}
}
