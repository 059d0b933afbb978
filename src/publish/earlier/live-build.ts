import * as fs from 'node:fs';
import { join } from 'node:path';
import { reading, readOwn } from '../../files/read-at.ts';
import { cell, decodeBpsv } from '../../formats/services/bpsv.ts';

/** The live build of a product as the tables of a folder name it. */
export interface LiveBuild {
  version: string;
  buildId: number;
  seqn: number;
  buildConfig: string;
  cdnConfig: string;
  productConfig: string;
  /** Empty without one. */
  keyRing: string;
  /** Empty where there is no `cdns`. */
  cdnPath: string;
  hosts: readonly string[];
  regions: readonly string[];
}

/** Finds what the tables of a folder say of a product; undefined where it has none. @throws E_FORMAT for a table that is damaged, E_STORE */
export function findLiveBuild(out: string, product: string): LiveBuild | undefined {
  const [versions, cdns] = ['versions', 'cdns'].map((name) => readIfThere(join(out, product, name)));
  if (versions === undefined) return undefined;
  const table = decodeBpsv(versions);
  const row = table.rows[0] ?? {};
  const servers = (cdns && decodeBpsv(cdns).rows[0]) ?? {};
  const buildId = Number(cell(row, 'BuildId') ?? 0);
  return {
    version: cell(row, 'VersionsName') ?? '',
    buildId,
    seqn: table.seqn ?? buildId,
    buildConfig: cell(row, 'BuildConfig') ?? '',
    cdnConfig: cell(row, 'CDNConfig') ?? '',
    productConfig: cell(row, 'ProductConfig') ?? '',
    keyRing: cell(row, 'KeyRing') ?? '',
    cdnPath: cell(servers, 'Path') ?? '',
    hosts: cell(servers, 'Hosts')?.split(' ') ?? [],
    regions: table.rows.flatMap((one) => cell(one, 'Region') ?? []),
  };
}

function readIfThere(path: string): Uint8Array | undefined {
  return fs.existsSync(path) ? reading(path, () => readOwn(path)) : undefined;
}
