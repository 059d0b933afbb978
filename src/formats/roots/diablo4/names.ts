import { diablo4Group } from '../sno/asset-groups.ts';
import type { Diablo4Toc } from './core-toc.ts';
import type { EncryptedName, EncryptedSno } from './side-tables.ts';

/** The tables that name the paths of a Diablo IV build. */
export interface Diablo4Names {
  toc: Diablo4Toc;
  encrypted?: readonly EncryptedSno[] | undefined;
  /** Of the dictionaries that could be opened. */
  encryptedNames?: readonly EncryptedName[] | undefined;
}

/** A path by numbers: `Base/payload/1234`, `enUS_Text/child/1234-5`. */
export interface Diablo4Path {
  set: string;
  /** meta, child, payload, paylow, and paymed or paymid. */
  kind: string;
  snoId: number;
  /** Of a child. */
  subId?: number;
}

const pattern =
  /^((?:[a-z]{2}[A-Z]{2}_)?(?:Base|Speech|Text))\/(meta|child|payload|paylow|pay(?:med|mid))\/(\d{1,10})(?:-(\d{1,10}))?$/i;

/** The parts of a path of Diablo IV's TVFS, or undefined for one that is no asset. */
export function parseDiablo4Path(path: string): Diablo4Path | undefined {
  const [, set, kind, sno, sub] = pattern.exec(path) ?? [];
  if (set === undefined || kind === undefined || Number(sno) > 0xffffffff) return undefined;
  return { set, kind, snoId: Number(sno), ...(sub !== undefined && { subId: Number(sub) }) };
}

/** The path by numbers. */
export function printDiablo4Path({ set, kind, snoId, subId }: Diablo4Path): string {
  return `${set}/${kind}/${snoId}${subId === undefined ? '' : `-${subId}`}`;
}

/**
 * Makes names of assets: `Base/meta/Power/Sorcerer_Fireball.pow`, `Base/child/Sound/Wind-3.snd`. One whose name is locked is
 * `_encrypted_` with its id; where two assets have one name, all but the first have `~` and their id behind it. Gives undefined for an
 * SNO id that CoreTOC does not have.
 */
export function diablo4Namer({ toc, encrypted = [], encryptedNames = [] }: Diablo4Names) {
  const unlocked = new Map(encryptedNames.map(({ snoId, name }) => [snoId, name]));
  const locked = new Set(encrypted.map(({ snoId }) => snoId));
  const named = new Map<number, { folder: string; base: string; extension: string }>();
  const taken = new Set<string>();
  for (const { group, snoId, name } of toc.groups.flatMap(({ entries }) => entries)) {
    if (named.has(snoId)) continue;
    const { folder, extension } = diablo4Group(group);
    const plain = locked.has(snoId) ? (unlocked.get(snoId) ?? `_encrypted_${snoId}`) : name;
    const comparable = `${folder}/${plain}`.toLowerCase();
    named.set(snoId, { folder, base: taken.has(comparable) ? `${plain}~${snoId}` : plain, extension });
    taken.add(comparable);
  }
  return ({ set, kind, snoId, subId }: Diablo4Path): string | undefined => {
    const entry = named.get(snoId);
    if (entry === undefined) return undefined;
    const { folder, base, extension } = entry;
    return `${set}/${kind}/${folder}/${base.replaceAll('\\', '/')}${subId === undefined ? '' : `-${subId}`}.${extension}`;
  };
}
