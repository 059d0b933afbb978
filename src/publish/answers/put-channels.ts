import * as fs from 'node:fs';
import { join } from 'node:path';
import { md5Hex } from '../../core/hash.ts';
import {
  type ChannelCatalogue,
  decodeChannelCatalogue,
  decodeChannelSummary,
  encodeChannelObject,
} from '../../formats/services/channels.ts';
import type { ServiceAnswer } from '../manifests/configs.ts';
import { putTable } from './put-table.ts';

/** Folder of the objects, as the summary names it. */
const folder = 'v2/channels';

/**
 * Writes the live build of a product as TACT channels have it: a definition, a list of hosts, a catalogue with the other products
 * that were there, and last the summary that names it.
 * @throws E_FORMAT when the summary or the catalogue that is there cannot be read; errors of the file system as they come
 */
export function putChannels(out: string, answer: ServiceAnswer): void {
  const { product, regions, hosts, keyRing } = answer;
  const definition = putJson(out, {
    armadilloKey: '',
    build: { name: answer.version, token: `${product}-${answer.buildId}` },
    buildKey: answer.buildConfig,
    cdnKey: answer.cdnConfig,
    keyRing,
    path: answer.cdnPath,
    productConfig: { cdnPath: answer.configPath, hash: answer.productConfig },
    versionNumber: answer.buildId,
    versionString: answer.version,
  });
  const cdns = putJson(out, { hosts: hosts.map((host) => ({ host: `http://${host}/?maxhosts=4` })) });
  const row = {
    product: product.toUpperCase(),
    variant: product,
    infrastructure: false,
    builds: [{ branches: regions, definition }],
    regions: [{ branches: regions, cdns }],
  };
  const { json } = findCatalogue(out) ?? { json: { name: 'public', products: [] } };
  const products = json.products as { variant?: unknown }[];
  const isThere = products.some(({ variant }) => variant === product);
  const kept = products.map((other) => (other.variant === product ? row : other));
  const catalogue = putJson(out, { ...json, products: isThere ? kept : [...kept, row] });
  const summary = { public: { channel: catalogue }, path: `${folder}/` };
  putTable(join(out, 'summary'), encodeChannelObject({ json: summary }), out);
}

/** The catalogue that is live, where there is one. */
function findCatalogue(out: string): ChannelCatalogue | undefined {
  const file = join(out, 'summary');
  if (!fs.existsSync(file)) return undefined;
  const { catalogue } = decodeChannelSummary(fs.readFileSync(file));
  return decodeChannelCatalogue(fs.readFileSync(objectFile(out, catalogue)));
}

/** Writes an object and gives back its name. */
function putJson(out: string, json: Record<string, unknown>): string {
  const bytes = encodeChannelObject({ json });
  const name = md5Hex(bytes);
  putTable(objectFile(out, name), bytes, out);
  return name;
}

function objectFile(out: string, name: string): string {
  return join(out, folder, name.slice(0, 2), name.slice(2, 4), name);
}
