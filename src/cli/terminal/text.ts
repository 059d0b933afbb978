/*
 * Text for a terminal. Names come out of archives and off the network, so nothing of them may reach a terminal as a command,
 * and a table must count columns as a terminal does.
 */

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be printed
const unprintable = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: as above, line breaks excepted
const unprintableInBlock = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

const escapeOne = (character: string): string => {
  const code = character.charCodeAt(0);
  return code < 0x100 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u${code.toString(16).padStart(4, '0')}`;
};

/** A text on one line that a terminal shows as it is: control characters and those that turn the direction are written out (`\x1b`). */
export function printable(text: string): string {
  return text.replace(unprintable, escapeOne);
}

/** A message of several lines on one. */
export function oneLine(message: string): string {
  return message.replace(/\s*\n\s*/g, ' ');
}

/** As {@link printable}, for a text of several lines. */
export function printableBlock(text: string): string {
  return text.replace(unprintableInBlock, escapeOne);
}

/** JSON text in which the characters that JSON leaves as they are and a terminal obeys are escaped; it means the same. */
export function printableJson(json: string): string {
  return json.replace(unprintable, (character) =>
    character === '\n' ? character : `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** Columns that one character takes on a terminal: 2 for East Asian wide ones and emoji, 0 for combining marks. */
function characterWidth(character: string): number {
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x300) return 1;
  if (/^\p{M}$/u.test(character) || code === 0x200b || code === 0x200d) return 0;
  const wide =
    (code >= 0x1100 && code <= 0x115f) ||
    (code >= 0x2e80 && code <= 0xa4cf) ||
    (code >= 0xac00 && code <= 0xd7a3) ||
    (code >= 0xf900 && code <= 0xfaff) ||
    (code >= 0xfe30 && code <= 0xfe6f) ||
    (code >= 0xff00 && code <= 0xff60) ||
    (code >= 0xffe0 && code <= 0xffe6) ||
    (code >= 0x1f300 && code <= 0x1faff) ||
    (code >= 0x20000 && code <= 0x3fffd);
  return wide ? 2 : 1;
}

/** Columns that a text takes on a terminal. */
export function textWidth(text: string): number {
  let width = 0;
  for (const character of text) width += characterWidth(character);
  return width;
}

/** A text cut to `width` columns, with `…` where something was left out. */
export function truncateText(text: string, width: number): string {
  if (textWidth(text) <= width) return text;
  let kept = '';
  let used = 1;
  for (const character of text) {
    used += characterWidth(character);
    if (used > width) break;
    kept += character;
  }
  return width < 1 ? '' : `${kept}…`;
}

/** A text filled with blanks to `width` columns, on the right, or on the left when it is `right`-aligned. */
export function padText(text: string, width: number, align: 'left' | 'right' = 'left'): string {
  const blanks = ' '.repeat(Math.max(0, width - textWidth(text)));
  return align === 'right' ? blanks + text : text + blanks;
}
