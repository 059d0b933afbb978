import { nameParts } from '../../files/output/output-path.ts';
import type { Source, SourceEntry } from '../source.ts';

/** A folder of a tree: its own folders and files by name. */
export interface TreeFolder {
  readonly folders: Map<string, TreeFolder>;
  readonly files: Map<string, SourceEntry>;
}

/** The files of a source as folders. */
export interface FileTree {
  root: TreeFolder;
  files: number;
  /** Names that no folder can have in it: empty parts, `.`, `..`, or the name of a folder. */
  skipped: string[];
}

/** Builds the tree of a source, without what it does not give for its names. */
export async function buildTree(source: Source): Promise<FileTree> {
  const tree: FileTree = { root: newFolder(), files: 0, skipped: [] };
  const found: SourceEntry[] = [];
  for await (const entry of source.list(() => true)) {
    if (entry.hidden !== undefined) continue;
    const parts = nameParts(entry.name);
    const isBad = parts.some((part) => part === '' || part === '.' || part === '..' || part.includes('\0'));
    if (isBad) {
      tree.skipped.push(entry.name);
      continue;
    }
    found.push(entry);
    parts.pop();
    parts.reduce(makeFolder, tree.root);
  }
  // Only when all folders are there, a file with the name of one shows. To go along a name twice takes less than to keep what was found.
  for (const entry of found) {
    const parts = nameParts(entry.name);
    const name = parts.pop() ?? '';
    const folder = parts.reduce(makeFolder, tree.root);
    if (folder.folders.has(name) || folder.files.has(name)) tree.skipped.push(entry.name);
    else {
      folder.files.set(name, entry);
      tree.files += 1;
    }
  }
  return tree;
}

function newFolder(): TreeFolder {
  return { folders: new Map(), files: new Map() };
}

function makeFolder({ folders }: TreeFolder, name: string): TreeFolder {
  const known = folders.get(name);
  if (known !== undefined) return known;
  const folder = newFolder();
  folders.set(name, folder);
  return folder;
}

/** The folder or file at a path that starts with `/`. */
export function findInTree({ root }: FileTree, path: string): TreeFolder | SourceEntry | undefined {
  const parts = path.split('/').filter((part) => part !== '');
  const name = parts.pop();
  if (name === undefined) return root;
  let folder: TreeFolder | undefined = root;
  for (const part of parts) folder = folder?.folders.get(part);
  return folder?.folders.get(name) ?? folder?.files.get(name);
}

/** True for a folder. */
export function isTreeFolder(node: TreeFolder | SourceEntry): node is TreeFolder {
  return 'folders' in node;
}
