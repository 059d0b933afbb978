// The product config: what the launcher knows of a product. JSON; what we use lies under all.config.
//
//   { "all": { "config": { "product": "WoW", "data_dir": "Data/", "decryption_key_name": "fenrisdev",
//                          "supported_locales": ["enUS", …], "tags": ["OSX", …], … } }, "platform": { … } }
//
// On the CDN it is written without spaces and line ends; the members keep their order.

import { formatError, messageOf } from '../../core/errors.ts';
import type { Format } from '../format.ts';
import { headLines } from '../text-lines.ts';

/** A decoded product config: the few facts that matter for reading a build, and the JSON for the rest. */
export interface ProductConfig {
  readonly product?: string | undefined;
  /** Folder of an install that holds the data ("Data/"). */
  readonly dataDir?: string | undefined;
  /** Name of the key that the objects on the CDN are encrypted with; undefined when they are not. */
  readonly decryptionKeyName?: string | undefined;
  readonly supportedLocales: readonly string[];
  readonly tags: readonly string[];
  /** All of it. */
  readonly json: Readonly<Record<string, unknown>>;
}

const format = 'product config';

/** Any JSON object: nothing else that is JSON lies on a CDN. */
export const productConfigFormat: Format = {
  name: format,
  matches: (head) => /^\s*\{\s*["}]/.test(headLines(head).join('\n')),
};

/** Reads a product config. Members of another type than expected count as absent. Throws E_FORMAT for other JSON. */
export function decodeProductConfig(bytes: Uint8Array): ProductConfig {
  const json = parse(new TextDecoder().decode(bytes));
  if (!isObject(json)) throw formatError('E_FORMAT', format, 'not a JSON object');
  const all = isObject(json.all) ? json.all : {};
  const config = isObject(all.config) ? all.config : {};
  return {
    product: stringOf(config.product),
    dataDir: stringOf(config.data_dir),
    decryptionKeyName: stringOf(config.decryption_key_name),
    supportedLocales: stringsOf(config.supported_locales),
    tags: stringsOf(config.tags),
    json,
  };
}

/**
 * Writes a product config, all of its `json`, without spaces and line ends: what came in that form, as real ones do, goes out byte for byte.
 * JSON that was spaced or escaped otherwise is of the same value.
 */
export function encodeProductConfig({ json }: Pick<ProductConfig, 'json'>): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(json));
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw formatError('E_FORMAT', format, `not JSON: ${messageOf(error)}`);
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function stringOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function stringsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}
