import { PakratError } from '../../core/errors.ts';

/*
 * Names come from outside and become paths here, and nowhere else. The rules are those of the strictest system, everywhere,
 * so that what is unpacked on one machine can be moved to another.
 */

const reserved = /^(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$)(\..*)?$/i;
const maxPartBytes = 255;
/** What most names are: good as they stand. Letters, digits, and a dot or a space between them; no part is a device. */
const plainPart = '(?!(?:con|prn|aux|nul|com\\d|lpt\\d)(?:[./]|$))[\\w-]+(?:[ .][\\w-]+)*';
const plainName = new RegExp(`^${plainPart}(?:/${plainPart})*$`, 'i');

/** The parts of a name, without `.` and without slashes in front: some tools pack `./a` and `/a`, and mean `a`. */
export function nameParts(name: string): string[] {
  const parts = name.split(/[/\\]/).filter((part, i, all) => part !== '.' || i === all.length - 1);
  const first = parts.findIndex((part) => part !== '');
  return first < 0 ? [''] : parts.slice(first);
}

/**
 * The relative path, with `/`, at which a file of this name may be written.
 * @throws E_UNSAFE_PATH for a name that could leave the output folder, or that some system takes for something else than a file
 */
export function outputPath(name: string): string {
  if (name.length <= maxPartBytes && plainName.test(name)) return name;
  const normal = name.normalize('NFC');
  const refuse = (problem: string): PakratError =>
    new PakratError('E_UNSAFE_PATH', `${JSON.stringify(name)} is not written: ${problem}`, { data: { name } });
  const parts = nameParts(normal);
  for (const part of parts) {
    if (part === '') throw refuse('it has an empty part');
    if (part === '..') throw refuse('it steps out of its folder');
    if (part === '.') throw refuse('it is the name of a folder');
    if (part.includes(':')) throw refuse('it has a colon (a drive or a stream)');
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is refused
    if (/[\u0000-\u001f\u007f<>"|?*]/.test(part)) throw refuse('it has a character that file names cannot have');
    if (/[. ]$/.test(part)) throw refuse('a part ends in a dot or a space');
    if (reserved.test(part)) throw refuse('it is the name of a device');
    if (Buffer.byteLength(part) > maxPartBytes) throw refuse(`a part is longer than ${maxPartBytes} bytes`);
  }
  return parts.join('/');
}
