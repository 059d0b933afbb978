import { type Bpsv, type BpsvRow, cell } from '../../formats/services/bpsv.ts';

interface RegionRow {
  row: BpsvRow;
  /** The region the row is of. */
  region: string;
  /** True when it is not the one asked for, because the table has no row for that. */
  fellBack: boolean;
}

/** Regions that stand in for one without a row, in this order; `xx` is the row for everyone else. */
const standIns = ['us', 'eu', 'xx'];

/**
 * The row of a region in a `versions` or `cdns` table: the region's own, else that of us, eu or xx, else the first.
 * @param columns names the region's column may have: `Region` in versions, `Name` in cdns
 * @returns undefined when the table has no rows
 */
export function rowOfRegion(bpsv: Bpsv, columns: readonly string[], region: string): RegionRow | undefined {
  const regionOf = (row: BpsvRow): string => cell(row, ...columns) ?? '';
  for (const wanted of [region, ...standIns]) {
    const row = bpsv.rows.find((candidate) => regionOf(candidate).toLowerCase() === wanted.toLowerCase());
    if (row !== undefined) return { row, region: regionOf(row), fellBack: wanted !== region };
  }
  const first = bpsv.rows[0];
  return first === undefined ? undefined : { row: first, region: regionOf(first), fellBack: true };
}
