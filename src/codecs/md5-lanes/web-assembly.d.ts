/* What is used of WebAssembly: the compiler knows it only together with all of a browser. */
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
