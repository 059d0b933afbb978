import tables from '../../../../data/diablo-groups.json' with { type: 'json' };

/** A kind of asset: its folder, and what its files end in. */
export interface AssetGroup {
  folder: string;
  extension: string;
}

/** The group of a number in Diablo III; a name made of the number for one that nobody knows. */
export function diablo3Group(number: number): AssetGroup {
  const digits = String(number).padStart(2, '0');
  return findGroup(tables.diablo3, number, `a${digits}`) ?? { folder: `Asset${digits}`, extension: `a${digits}` };
}

/** The group of a number in Diablo IV; a name made of the number for one that nobody knows. New seasons bring more. */
export function diablo4Group(number: number): AssetGroup {
  const digits = String(number).padStart(3, '0');
  return findGroup(tables.diablo4, number, digits) ?? { folder: digits, extension: digits };
}

/** @param numbered the extension of a group for which nobody knows one */
function findGroup(table: Readonly<Record<string, string>>, number: number, numbered: string): AssetGroup | undefined {
  const [folder, extension = numbered] = table[number]?.split(' ') ?? [];
  return folder === undefined ? undefined : { folder, extension };
}
