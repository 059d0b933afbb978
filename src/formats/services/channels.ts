// TACT channels: the version service of 2026. A pointer that changes, and JSON objects named by the MD5 of their bytes.
//
//   summary      {"public":{"channel":"<catalogue>"},"path":"blue/"}                    the pointer; objects lie at <path>/aa/bb/<md5>
//   catalogue    {"name":"public","products":[{"product":"WOW","variant":"wow","infrastructure":false,
//                   "builds":[{"branches":["us","kr"],"definition":"<md5>"}],          absent for some products
//                   "regions":[{"branches":["us","kr"],"cdns":"<md5>"}],
//                   "preloads":[{"branches":["us"],"definition":"<md5>"}]}]}            absent for most
//   definition   {"buildKey":"<build config>","cdnKey":"<CDN config>","keyRing":"","armadilloKey":"","path":"tpr/wow",
//                   "productConfig":{"hash":"<md5>","cdnPath":"tpr/configs/data"},"versionNumber":60100,"versionString":"11.2.0.60100", …}
//   cdns         {"hosts":[{"host":"https://host/?maxhosts=4"}]}
//
// `variant` is what is called product everywhere else, `branches` are its regions. What is not read here stays in `json`.
// Known from the sources of public clients; nobody here has asked the real service.

import { isKeyHex } from '../../core/bytes.ts';
import { formatError, messageOf } from '../../core/errors.ts';

/** The pointer to the newest catalogue. */
export interface ChannelSummary {
  /** MD5 of the catalogue, hex. */
  readonly catalogue: string;
  /** Folder of the objects, without slashes at its ends. */
  readonly path: string;
  readonly json: JsonObject;
}

/** Regions, and the object that holds for them. */
export interface ChannelBranch {
  readonly branches: readonly string[];
  /** MD5 of a definition or of a list of hosts, hex. */
  readonly object: string;
}

/** A product of a catalogue. */
export interface ChannelProduct {
  /** Product code, such as `wow_classic_era`. */
  readonly product: string;
  /** Definitions of the live builds. */
  readonly builds: readonly ChannelBranch[];
  /** Lists of hosts. */
  readonly regions: readonly ChannelBranch[];
  /** Definitions of builds to come. */
  readonly preloads: readonly ChannelBranch[];
}

/** All products of a channel. */
export interface ChannelCatalogue {
  readonly products: readonly ChannelProduct[];
  readonly json: JsonObject;
}

/** A build: keys are hex, and undefined where it has none. */
export interface ChannelDefinition {
  readonly buildConfig: string;
  readonly cdnConfig: string;
  readonly keyRing?: string | undefined;
  readonly productConfig?: string | undefined;
  /** Name of the key that the objects on the CDN are encrypted with. */
  readonly armadilloKey?: string | undefined;
  /** Path of the product on the CDN, such as `tpr/wow`. */
  readonly path?: string | undefined;
  readonly configPath?: string | undefined;
  readonly buildId?: number | undefined;
  readonly versionName?: string | undefined;
  readonly json: JsonObject;
}

/** The hosts of a CDN. */
export interface ChannelCdns {
  /** URLs as in the column `Servers`. */
  readonly servers: readonly string[];
  readonly json: JsonObject;
}

type JsonObject = Readonly<Record<string, unknown>>;

/** Reads a summary. @throws E_FORMAT when it names no catalogue */
export function decodeChannelSummary(bytes: Uint8Array): ChannelSummary {
  const json = parse(bytes, 'channel summary');
  const catalogue = keyOf(objectOf(json.public).channel);
  const path = textOf(json.path)?.replace(/^\/+|\/+$/g, '') ?? '';
  if (catalogue === undefined) throw formatError('E_FORMAT', 'channel summary', 'names no catalogue');
  return { catalogue, path, json };
}

/** Reads a catalogue. Products without a name, and branches without an object, are passed over. @throws E_FORMAT */
export function decodeChannelCatalogue(bytes: Uint8Array): ChannelCatalogue {
  const json = parse(bytes, 'channel catalogue');
  if (!Array.isArray(json.products)) throw formatError('E_FORMAT', 'channel catalogue', 'has no list of products');
  const products = listOf(json.products).flatMap((row) => {
    const product = textOf(row.variant);
    if (product === undefined) return [];
    return {
      product,
      builds: branchesOf(row.builds, 'definition'),
      regions: branchesOf(row.regions, 'cdns'),
      preloads: branchesOf(row.preloads, 'definition'),
    };
  });
  return { products, json };
}

/** Reads the definition of a build. @throws E_FORMAT when it names no build config or no CDN config */
export function decodeChannelDefinition(bytes: Uint8Array): ChannelDefinition {
  const json = parse(bytes, 'channel definition');
  const [buildConfig, cdnConfig] = [keyOf(json.buildKey), keyOf(json.cdnKey)];
  if (buildConfig === undefined || cdnConfig === undefined) {
    throw formatError('E_FORMAT', 'channel definition', 'names no build config or no CDN config');
  }
  const productConfig = objectOf(json.productConfig);
  return {
    buildConfig,
    cdnConfig,
    keyRing: keyOf(json.keyRing),
    productConfig: keyOf(productConfig.hash),
    armadilloKey: textOf(json.armadilloKey),
    path: textOf(json.path),
    configPath: textOf(productConfig.cdnPath),
    buildId: typeof json.versionNumber === 'number' ? json.versionNumber : undefined,
    versionName: textOf(json.versionString),
    json,
  };
}

/** Reads a list of hosts. @throws E_FORMAT when there is none in it */
export function decodeChannelCdns(bytes: Uint8Array): ChannelCdns {
  const json = parse(bytes, 'channel cdns');
  const servers = listOf(json.hosts).flatMap(({ host }) => textOf(host) ?? []);
  if (servers.length === 0) throw formatError('E_FORMAT', 'channel cdns', 'names no host');
  return { servers, json };
}

/**
 * Writes a summary, a catalogue, a definition or a list of hosts, all of its `json`, without spaces: what came in that form goes out byte for
 * byte, and so under the same name.
 */
export function encodeChannelObject({ json }: { readonly json: JsonObject }): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(json));
}

function parse(bytes: Uint8Array, format: string): Record<string, unknown> {
  try {
    const json: unknown = JSON.parse(new TextDecoder().decode(bytes));
    if (isObject(json)) return json;
  } catch (error) {
    throw formatError('E_FORMAT', format, `not JSON: ${messageOf(error).slice(0, 80)}`);
  }
  throw formatError('E_FORMAT', format, 'not a JSON object');
}

function branchesOf(value: unknown, member: string): ChannelBranch[] {
  return listOf(value).flatMap((row) => {
    const object = keyOf(row[member]);
    if (object === undefined || !Array.isArray(row.branches)) return [];
    return { branches: row.branches.flatMap((branch) => textOf(branch) ?? []), object };
  });
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function objectOf(value: unknown): Record<string, unknown> {
  return isObject(value) ? value : {};
}

function listOf(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** A text that is not empty. */
function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function keyOf(value: unknown): string | undefined {
  const key = textOf(value)?.toLowerCase();
  return key !== undefined && isKeyHex(key) ? key : undefined;
}
