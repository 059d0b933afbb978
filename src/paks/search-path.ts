import { PakratError } from '../core/errors.ts';
import { slicePieces } from '../files/pieces.ts';
import { foldName } from './names.ts';
import type { HiddenKind, LockedPart, Pak, PakEntry, PakProblem } from './pak.ts';

/** One PAK or folder of a search path. */
export interface Layer {
  /** How it is called in notes. */
  label: string;
  pak: Pak;
  /** Name of an entry in the whole, when it differs from its own; undefined leaves the entry out. */
  nameOf?: ((entry: PakEntry) => string | undefined) | undefined;
}

/** What layers become. */
export interface LayerOptions {
  family: string;
  version: string;
  facts: Record<string, unknown>;
  notes: readonly string[];
  /** PAKs that are no layers because no key opens them. */
  lockedParts?: readonly LockedPart[];
  /** Names with the same key are the same file to the engine. */
  keyOf: (name: string) => string;
}

/** A row of the whole, with where it comes from. */
interface LayerRow extends PakEntry {
  readonly layer: Layer;
  readonly inner: PakEntry;
}

/**
 * Several PAKs as one, as an engine sees them through its search path.
 * @param layers the strongest first: the first layer that has a name gives the file, or by a delete record takes it away.
 *   What is hidden stays listed, and says by what it is hidden.
 */
export function stackLayers(layers: readonly Layer[], options: LayerOptions): Pak {
  return new LayeredPak(layers, options);
}

class LayeredPak implements Pak {
  readonly family: string;
  readonly version: string;
  readonly entries: readonly LayerRow[];
  readonly notes: readonly string[];
  readonly facts: Record<string, unknown>;
  readonly lockedParts: readonly LockedPart[] | undefined;
  readonly #layers: readonly Layer[];
  readonly #keyOf: (name: string) => string;
  readonly #winners = new Map<string, LayerRow>();
  readonly #folded = new Map<string, LayerRow>();

  constructor(layers: readonly Layer[], options: LayerOptions) {
    this.family = options.family;
    this.version = options.version;
    this.facts = options.facts;
    this.lockedParts = options.lockedParts;
    this.notes = options.notes;
    this.#layers = layers;
    this.#keyOf = options.keyOf;
    const entries: LayerRow[] = [];
    for (const layer of layers) {
      for (const inner of layer.pak.entries) {
        const name = layer.nameOf === undefined ? inner.name : layer.nameOf(inner);
        if (name !== undefined) entries.push(this.#place({ layer, inner }, name, entries.length));
      }
    }
    this.entries = entries;
  }

  #place({ layer, inner }: { layer: Layer; inner: PakEntry }, name: string, index: number): LayerRow {
    const key = this.#keyOf(name);
    const winner = this.#winners.get(key);
    const { size, storedSize, method, encrypted, mtime, sha1 } = inner;
    const row: LayerRow = {
      ...{ index, name, size, storedSize, method, encrypted, mtime, sha1, layer, inner },
      hidden: inner.hidden ?? hiddenBy(winner),
      origin: layer.label,
      note: joinNotes(inner.note, hiddenNote(winner)),
    };
    // A row that its own PAK hides stands in nobody's way, but a delete record does.
    if (winner === undefined && (inner.hidden === undefined || inner.hidden === 'delete-record')) {
      this.#winners.set(key, row);
      if (row.hidden === undefined && !this.#folded.has(foldName(name))) this.#folded.set(foldName(name), row);
    }
    return row;
  }

  find(name: string): PakEntry | undefined {
    const row = this.#winners.get(this.#keyOf(name.replaceAll('\\', '/')));
    if (row !== undefined) return row.hidden === undefined ? row : undefined;
    const other = this.#folded.get(foldName(name));
    return other && { ...other, note: joinNotes(other.note, `found by ignoring case: it is stored as ${other.name}`) };
  }

  read(entry: PakEntry): AsyncIterable<Uint8Array> {
    const { layer, inner } = this.#rowOf(entry);
    return layer.pak.read(inner);
  }

  readRange(entry: PakEntry, offset: number, size: number): AsyncIterable<Uint8Array> {
    const { layer, inner } = this.#rowOf(entry);
    return layer.pak.readRange?.(inner, offset, size) ?? slicePieces(layer.pak.read(inner), offset, size);
  }

  partSize(entry: PakEntry): number | undefined {
    const { layer, inner } = this.#rowOf(entry);
    return layer.pak.partSize?.(inner);
  }

  verify(entry: PakEntry): Promise<PakProblem | undefined> {
    const { layer, inner } = this.#rowOf(entry);
    return layer.pak.verify(inner);
  }

  async verifyDirectory(): Promise<PakProblem | undefined> {
    for (const { label, pak } of this.#layers) {
      const problem = await pak.verifyDirectory();
      if (problem !== undefined) return { code: problem.code, message: `${label}: ${problem.message}` };
    }
    return undefined;
  }

  async close(): Promise<void> {
    for (const { pak } of this.#layers) await pak.close();
  }

  #rowOf(entry: PakEntry): LayerRow {
    const row = this.entries[entry.index];
    if (row === undefined) throw new PakratError('E_NOT_FOUND', `there is no entry ${entry.index}`);
    return row;
  }
}

function joinNotes(...notes: (string | undefined)[]): string | undefined {
  return notes.filter((note) => note !== undefined).join('; ') || undefined;
}

function hiddenBy(winner: LayerRow | undefined): HiddenKind | undefined {
  if (winner === undefined) return undefined;
  return winner.hidden === 'delete-record' ? 'deleted' : 'shadowed';
}

function hiddenNote(winner: LayerRow | undefined): string | undefined {
  if (winner === undefined) return undefined;
  return `${winner.hidden === 'delete-record' ? 'deleted' : 'shadowed'} by ${winner.layer.label}`;
}
