/** Names of a PAK are relative to its mount point, which is relative to the game's binaries: mostly `../../../Game/…`. */

/**
 * The name of a file in the whole game: mount point and name together, without what leads out of the game's folder.
 * An absolute mount point keeps its parts: `D:/Build/` becomes `D/Build/`.
 */
export function mountedName(mountPoint: string, name: string): string {
  const parts: string[] = [];
  for (const part of `${mountPoint}/${name}`.replaceAll('\\', '/').split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '' && part !== '.') parts.push(part.replace(/:$/, ''));
  }
  return parts.join('/');
}

/** A name as a PAK with this mount point has it, given that or the name in the whole game. Several may be meant. */
export function relativeNames(mountPoint: string, name: string): string[] {
  const plain = name.replaceAll('\\', '/').replace(/^\/+/, '');
  const whole = mountedName('', plain);
  const prefix = mountedName(mountPoint, '');
  const isBelow = prefix !== '' && whole.toLowerCase().startsWith(`${prefix.toLowerCase()}/`);
  return isBelow ? [plain, whole.slice(prefix.length + 1)] : [plain, whole];
}
