import { formatError, messageOf, PakratError } from '../core/errors.ts';

/** Decodes raw Oodle data that gives exactly `size` bytes. */
export type OodleDecoder = (bytes: Uint8Array, size: number) => Uint8Array;

/** The optional package that decodes Oodle. It is GPL-3.0-or-later, so it is never required and never bundled. */
const packageName = 'ooz-wasm';

/**
 * The Oodle decoder, when its package is installed.
 * @throws E_UNSUPPORTED when it is not, with how to get it
 */
export async function loadOodle(): Promise<OodleDecoder> {
  const decompress = await importDecoder();
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

async function importDecoder(): Promise<OodleDecoder> {
  try {
    const library = (await import(packageName)) as { decompress: OodleDecoder };
    return library.decompress;
  } catch (cause) {
    throw new PakratError('E_UNSUPPORTED', 'Oodle compression needs a decoder that is not installed', {
      hint: `Install the optional package ${packageName} (GPL-3.0-or-later) beside pakrat: npm install ${packageName}`,
      data: { method: 'oodle', package: packageName },
      cause,
    });
  }
}
