/** The keys of a build's configs, and the CDN paths and hosts that have its objects. */
export interface BuildIdentity {
  product: string;
  /** Version name, e.g. `11.2.0.60100`. */
  name: string;
  buildId: string | null;
  buildConfig: string;
  cdnConfig: string;
  productConfig: string | null;
  keyRing: string | null;
  region: string;
  cdnPath: string;
  configPath: string;
  /** The hosts that `cdns` named. */
  hosts: HostRow[];
}

/** A build as the ledger knows it. Entry counts and bytes are those of the last selection that was synced. */
export interface BuildRow extends BuildIdentity {
  /** The selection of the last sync, as JSON; null when only read. */
  selection: string | null;
  wanted: Amount;
  held: Amount;
}

/** True when all is held that is wanted of a build. Of one of which something is wanted and nothing was counted, as it could not be opened, nobody knows that. */
export function isHeldWhole({ wanted, held }: Pick<BuildRow, 'wanted' | 'held'>): boolean {
  return wanted.entries > 0 && held.entries >= wanted.entries;
}

/** The name of a build among all: two products may have the same build config. */
export function keyOf({ product, buildConfig }: Pick<BuildIdentity, 'product' | 'buildConfig'>): string {
  return `${product}@${buildConfig}`;
}

/** A host as `cdns` named it. */
export interface HostRow {
  /** `http://host[:port]`, no slash at the end. */
  base: string;
  /** Only asked when the others failed. */
  fallback: boolean;
}

/** A number of entries and their encoded bytes. */
export interface Amount {
  entries: number;
  bytes: number;
}

/** An answer of a version service that the ledger kept. */
export interface AnswerRow {
  seqn: number | null;
  service: string;
  /** Milliseconds since 1970 of the last time it was given. */
  time: number;
  body: Uint8Array;
}

/** A stored TACT key; name in printed order, both lower-case hex. */
export interface KeyRow {
  name: string;
  key: string;
  extra: string;
  source: string;
}

/** A row that is not as it was written: changed, gone, or put there by something else. */
export interface DamagedRow {
  table: 'builds' | 'answers' | 'keys' | 'settings' | 'selections' | 'pins' | 'forgotten' | 'arrivals';
  key: string | number;
}
