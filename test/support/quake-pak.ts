/** A file of a PAK that is made by hand. The name goes in as it is, however hostile. */
export interface QuakeFile {
  name: string;
  content: Uint8Array | string;
}

/** A Quake PAK as it lies on disk: header, contents, directory. Nothing of it is checked. */
export function quakePak(files: readonly QuakeFile[]): Uint8Array {
  const contents = files.map(({ content }) => Buffer.from(content));
  const directory = Buffer.alloc(files.length * 64);
  let offset = 12;
  files.forEach(({ name }, i) => {
    directory.write(name, i * 64, 56, 'latin1');
    directory.writeInt32LE(offset, i * 64 + 56);
    directory.writeInt32LE(contents[i]!.length, i * 64 + 60);
    offset += contents[i]!.length;
  });
  const header = Buffer.alloc(12);
  header.write('PACK');
  header.writeInt32LE(offset, 4);
  header.writeInt32LE(directory.length, 8);
  return new Uint8Array(Buffer.concat([header, ...contents, directory]));
}
