/** Pictures that browsers show, by their first bytes in hex. SVG is not among them: it may carry scripts. */
const pictures: readonly [type: string, head: RegExp][] = [
  ['image/png', /^89504e470d0a1a0a/],
  ['image/jpeg', /^ffd8ff/],
  ['image/gif', /^474946383[79]61/],
  ['image/webp', /^52494646.{8}57454250/],
  ['image/bmp', /^424d.{8}00000000/],
  ['image/avif', /^.{8}66747970617669(?:66|73)/],
  ['image/x-icon', /^00000100..00/],
];

/** The type of a picture that browsers show; undefined for anything else. */
export function pictureType(head: Uint8Array): string | undefined {
  const hex = Buffer.from(head.subarray(0, 32)).toString('hex');
  return pictures.find(([, magic]) => magic.test(hex))?.[0];
}

/** The text of bytes that look like text in UTF-8; undefined for others. @param isCut they are not all of it: the last character may be cut */
export function textOf(bytes: Uint8Array, isCut: boolean): string | undefined {
  if (bytes.includes(0)) return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: isCut });
  } catch {
    return undefined;
  }
}

/** A Content-Disposition that has the last part of any name saved under a safe one. */
export function attachment(name: string): string {
  const last = name.split(/[/\\]/).at(-1) || 'file';
  const safe = last.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}<>:"|?*]/gu, '_').slice(-200);
  const ascii = safe.replace(/[^ -~]/g, '_').replace(/[\\"%]/g, '_');
  const encoded = encodeURIComponent(safe.replace(/[\ud800-\udfff]/gu, '_')).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${ascii}"; filename*=UTF-8''${encoded}`;
}
