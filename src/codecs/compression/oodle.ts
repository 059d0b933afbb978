import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { formatError, messageOf, PakratError } from '../../core/errors.ts';

/** Decodes raw Oodle data that gives exactly `size` bytes. */
export type OodleDecoder = (bytes: Uint8Array, size: number) => Uint8Array;

/** The optional package that decodes Oodle. It is GPL-3.0-or-later, so it is never required and never bundled. */
const packageName = 'ooz-wasm';

/**
 * The Oodle decoder: that of the optional package, when it is installed, or of a module of the user's own, such as one that calls
 * the original library.
 * @param module path of an ES module that exports `decompress(bytes, size)`
 * @throws E_UNSUPPORTED when there is none, with how to get it, E_USAGE for a module that exports no such function
 */
export async function loadOodle(module?: string): Promise<OodleDecoder> {
  const decompress = module === undefined ? await importPackage() : await importModule(module);
  return (bytes, size) => {
    let output: Uint8Array;
    try {
      output = decompress(bytes, size);
    } catch (error) {
      throw formatError('E_FORMAT', 'Oodle block', `damaged (${messageOf(error)})`);
    }
    if (output.length === size) return output;
    throw formatError('E_FORMAT_TRUNCATED', 'Oodle block', 'another size', { expected: size, found: output.length });
  };
}

async function importPackage(): Promise<OodleDecoder> {
  try {
    return (await importBeside()).decompress;
  } catch (cause) {
    throw new PakratError('E_UNSUPPORTED', 'Oodle compression needs a decoder that is not installed', {
      hint: `Install the optional package ${packageName} (GPL-3.0-or-later) beside pakrat or in the current folder: npm install ${packageName}. Or name a decoder of your own with --oodle (PAKRAT_OODLE).`,
      data: { method: 'oodle', package: packageName },
      cause,
    });
  }
}

/** The package beside pakrat; else that of the project in whose folder it runs. */
async function importBeside(): Promise<{ decompress: OodleDecoder }> {
  try {
    return (await import(packageName)) as { decompress: OodleDecoder };
  } catch {
    const path = createRequire(resolve('project.js')).resolve(packageName);
    return (await import(pathToFileURL(path).href)) as { decompress: OodleDecoder };
  }
}

async function importModule(path: string): Promise<OodleDecoder> {
  let library: { decompress?: unknown };
  try {
    library = (await import(pathToFileURL(resolve(path)).href)) as { decompress?: unknown };
  } catch (cause) {
    throw new PakratError('E_UNSUPPORTED', `the Oodle decoder ${path} cannot be loaded: ${messageOf(cause)}`, {
      data: { method: 'oodle', path },
      cause,
    });
  }
  if (typeof library.decompress === 'function') return library.decompress as OodleDecoder;
  throw new PakratError('E_USAGE', `${path} exports no function decompress(bytes, size)`, { data: { path } });
}
