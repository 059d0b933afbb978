import { asBuffer } from '../../../core/bytes.ts';
import type { FilePart, FileVariant, VariantFlags } from '../root.ts';
import { ckeySize } from './name-order.ts';
import type { FieldPlace } from './row-windows.ts';

/** A row of a listing. There may be millions, most of which are asked for no more than their names: the content is read when it is asked for. */
export class ListedVariant implements FileVariant {
  // Declared only: fields cost less so.
  declare readonly name: string | undefined;
  declare readonly fileDataId: number;
  declare readonly localeFlags: number;
  declare readonly contentFlags: number;
  declare private readonly ckey: FieldPlace;

  constructor(
    { name, fileDataId }: { name: string | undefined; fileDataId: number },
    { localeFlags, contentFlags }: VariantFlags,
    ckey: FieldPlace,
  ) {
    this.name = name;
    this.fileDataId = fileDataId;
    this.localeFlags = localeFlags;
    this.contentFlags = contentFlags;
    this.ckey = ckey;
  }

  get parts(): FilePart[] {
    const { of, at } = this.ckey;
    return [{ ckey: asBuffer(of.bytes).toString('hex', at, at + ckeySize), size: undefined }];
  }
}
