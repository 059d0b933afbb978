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
  const entries: SourceEntry[] = [];
  for await (const entry of source.list(() => true)) {
    if (entry.hidden !== undefined) continue;
    const parts = partsOf(entry.name);
    if (parts === undefined) tree.skipped.push(entry.name);
    else {
      makeFolders(tree.root, parts.slice(0, -1));
      entries.push(entry);
    }
  }
  // When all folders are there, a file with the name of one shows.
  for (const entry of entries) place(tree, entry);
  return tree;
}

function newFolder(): TreeFolder {
  return { folders: new Map(), files: new Map() };
}

function partsOf(name: string): string[] | undefined {
  const parts = name.split('/');
  const isBad = parts.some((part) => part === '' || part === '.' || part === '..' || part.includes('\0'));
  return isBad ? undefined : parts;
}

function makeFolders(root: TreeFolder, parts: readonly string[]): TreeFolder {
  let folder = root;
  for (const part of parts) {
    let next = folder.folders.get(part);
    if (next === undefined) {
      next = newFolder();
      folder.folders.set(part, next);
    }
    folder = next;
  }
  return folder;
}

function place(tree: FileTree, entry: SourceEntry): void {
  const parts = partsOf(entry.name)!;
  const name = parts.pop()!;
  const folder = makeFolders(tree.root, parts);
  if (folder.folders.has(name) || folder.files.has(name)) {
    tree.skipped.push(entry.name);
    return;
  }
  folder.files.set(name, entry);
  tree.files += 1;
}

/** What is at a path that starts with `/`. */
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
