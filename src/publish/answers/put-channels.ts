import * as fs from 'node:fs';
import { join } from 'node:path';
import { equalBytes } from '../../core/bytes.ts';
import { md5Hex } from '../../core/hash.ts';
import { writeFileDurable } from '../../files/durable.ts';
import { reading, readOwn } from '../../files/read-at.ts';
import {
  type ChannelCatalogue,
  decodeChannelCatalogue,
  decodeChannelSummary,
  encodeChannelObject,
} from '../../formats/services/channels.ts';
import type { ServiceAnswer } from '../manifests/configs.ts';
import { channelFolder, makeCatalogueRow, makeChannelSummary } from './make-channels.ts';

/**
 * Writes the live build of a product as TACT channels have it: a definition, a list of hosts, a catalogue with the other products
 * that were there, and last the summary that names it.
 * @throws E_FORMAT when the summary or the catalogue that is there cannot be read; errors of the file system as they come
 */
export function putChannels(out: string, answer: ServiceAnswer): void {
  const { product } = answer;
  const put = (json: Record<string, unknown>): string => putJson(out, json);
  const row = makeCatalogueRow(product, [answer], put);
  const { json } = findCatalogue(out) ?? { json: { name: 'public', products: [] } };
  const products = json.products as { variant?: unknown }[];
  const isThere = products.some(({ variant }) => variant === product);
  const kept = products.map((other) => (other.variant === product ? row : other));
  const catalogue = put({ ...json, products: isThere ? kept : [...kept, row] });
  putTable(join(out, 'summary'), encodeChannelObject({ json: makeChannelSummary(catalogue) }), out);
}

/** The catalogue that is live, where there is one. */
function findCatalogue(out: string): ChannelCatalogue | undefined {
  const file = join(out, 'summary');
  if (!fs.existsSync(file)) return undefined;
  const { catalogue } = decodeChannelSummary(readTable(file));
  return decodeChannelCatalogue(readTable(objectFile(out, catalogue)));
}

/** Writes an object and gives back its name. */
function putJson(out: string, json: Record<string, unknown>): string {
  const bytes = encodeChannelObject({ json });
  const name = md5Hex(bytes);
  putTable(objectFile(out, name), bytes, out);
  return name;
}

function objectFile(out: string, name: string): string {
  return join(out, channelFolder, name.slice(0, 2), name.slice(2, 4), name);
}

/** A table that is there. @throws E_STORE */
export function readTable(path: string): Uint8Array {
  return reading(path, () => readOwn(path));
}

/** Replaces a table in one go, unless it is so already. @param out folder on the same file system for the temporary name @throws E_STORE_FULL, E_STORE */
export function putTable(path: string, bytes: Uint8Array, out: string): void {
  if (fs.existsSync(path) && equalBytes(readTable(path), bytes)) return;
  writeFileDurable(path, bytes, out);
}
