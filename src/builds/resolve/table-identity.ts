import { hostsOfRow } from '../../cdn/hosts/host-names.ts';
import { rowOfRegion } from '../../cdn/versions/region-rows.ts';
import { isKeyHex } from '../../core/bytes.ts';
import { PakratError } from '../../core/errors.ts';
import { type Bpsv, type BpsvRow, cell } from '../../formats/services/bpsv.ts';
import { isSafeCdnPath, usualConfigPath } from '../../store/layout.ts';
import type { BuildIdentity } from '../../store/ledger/rows.ts';

/**
 * The identity of a build from its row in `versions` and the rows of `cdns`.
 * @param note called when the row of another region stands in
 * @throws E_FORMAT when a table lacks what a build needs
 */
export function identityOfRow(
  { product, region }: { product: string; region: string },
  row: BpsvRow,
  cdns: Bpsv,
  note: (text: string) => void,
): BuildIdentity {
  const buildConfig = keyCell(row, 'BuildConfig');
  const cdnConfig = keyCell(row, 'CDNConfig');
  if (buildConfig === undefined || cdnConfig === undefined) {
    throw new PakratError('E_FORMAT', `the version table of ${product} names no build config or no CDN config`, {
      data: { product },
    });
  }
  return {
    product,
    name: versionNameOf(row) ?? buildConfig,
    buildId: cell(row, 'BuildId') ?? null,
    buildConfig,
    cdnConfig,
    productConfig: keyCell(row, 'ProductConfig') ?? null,
    keyRing: keyCell(row, 'KeyRing') ?? null,
    region: cell(row, 'Region') ?? region,
    ...cdnOf({ product, region }, cdns, note),
  };
}

function cdnOf(
  { product, region }: { product: string; region: string },
  cdns: Bpsv,
  note: (text: string) => void,
): Pick<BuildIdentity, 'cdnPath' | 'configPath' | 'hosts'> {
  const found = rowOfRegion(cdns, ['Name'], region);
  const cdnPath = found && pathCell(found.row, 'Path');
  if (found === undefined || cdnPath === undefined || !isSafeCdnPath(cdnPath)) {
    throw new PakratError('E_FORMAT', `cdns of ${product} names no usable path for region ${region}`, {
      data: { product, region },
    });
  }
  if (found.fellBack) note(`cdns of ${product} has no row for region ${region}; taking the one of ${found.region}`);
  const configPath = pathCell(found.row, 'ConfigPath') ?? usualConfigPath;
  return {
    cdnPath,
    configPath: isSafeCdnPath(configPath) ? configPath : usualConfigPath,
    hosts: hostsOfRow(cell(found.row, 'Servers'), cell(found.row, 'Hosts')),
  };
}

/** The version name of a row, under either of the names that its column has. */
export function versionNameOf(row: BpsvRow): string | undefined {
  return cell(row, 'VersionsName', 'VersionName');
}

function keyCell(row: BpsvRow, column: string): string | undefined {
  const value = cell(row, column)?.toLowerCase();
  return value !== undefined && isKeyHex(value) ? value : undefined;
}

function pathCell(row: BpsvRow, column: string): string | undefined {
  return cell(row, column)?.replace(/^\/+|\/+$/g, '');
}
