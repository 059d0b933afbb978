/** A kind of asset: its folder, and what its files end in. */
export interface AssetGroup {
  folder: string;
  extension: string;
}

/**
 * Groups by their numbers.
 * @param table `number folder extension`, separated by commas
 * @param numbered what stands for an extension that is left out
 */
export function parseAssetGroups(table: string, numbered: (number: number) => string): ReadonlyMap<number, AssetGroup> {
  return new Map(
    table.split(',').map((row) => {
      const [number, folder = '', extension] = row.trim().split(' ');
      return [Number(number), { folder, extension: extension ?? numbered(Number(number)) }];
    }),
  );
}
