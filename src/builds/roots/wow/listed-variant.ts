import type { FilePart, FileVariant, VariantFlags } from '../root.ts';

/** A row of a listing. There may be millions, most of which are asked for no more than their names: the content is read when it is asked for. */
export class ListedVariant implements FileVariant {
  // Declared only: fields cost less so.
  declare readonly name: string | undefined;
  declare readonly fileDataId: number;
  declare readonly localeFlags: number;
  declare readonly contentFlags: number;
  declare private readonly row: number;
  declare private readonly ckeyOf: (row: number) => string;

  constructor(
    { name, fileDataId, row }: { name: string | undefined; fileDataId: number; row: number },
    { localeFlags, contentFlags }: VariantFlags,
    ckeyOf: (row: number) => string,
  ) {
    this.name = name;
    this.fileDataId = fileDataId;
    this.localeFlags = localeFlags;
    this.contentFlags = contentFlags;
    this.row = row;
    this.ckeyOf = ckeyOf;
  }

  get parts(): FilePart[] {
    return [{ ckey: this.ckeyOf(this.row), size: undefined }];
  }
}
