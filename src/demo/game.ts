import { join } from 'node:path';
import type { TactKey } from '../formats/configs/key-list.ts';
import { type FolderFile, listFolderFiles } from '../publish/files/folder-files.ts';
import type { PublishFile } from '../publish/files/publish-file.ts';
import { packageRoot } from '../serve/package-root.ts';

/** The names of the sample game when it is published. */
export const demoBuild = { product: 'lantern', version: '1.0.0.100', buildId: 100 } as const;

/** The languages that it has. */
export const demoLocales = ['enUS', 'deDE'] as const;

/** Its one encrypted file is locked with this key, which is no secret. */
export const demoKey: TactKey = { name: '4c414d504f494c31', key: '6c616e7465726e2d6f696c2d64656d6f' };

/** Facts about files beside their content: the first rule that fits a name. */
const rules: readonly [name: RegExp, facts: Pick<PublishFile, 'install' | 'tags' | 'key' | 'priority'>][] = [
  [/^launcher\/.*\.cmd$/, { install: true, tags: [{ name: 'Windows', type: 1 }] }],
  [/^launcher\//, { install: true, tags: [{ name: 'Linux', type: 1 }] }],
  [/^secrets\//, { key: demoKey }],
  [/^maps\/|\/title\./, { priority: 1 }],
  [/^textures\//, { priority: 2 }],
  [/^sounds\//, { priority: 3 }],
];

/** The files of the sample game as they are published: what is wanted first comes first. */
export function sampleGame(): FolderFile[] {
  return listFolderFiles(join(packageRoot(), 'data', 'sample-game'))
    .map((file) => ({ ...file, ...rules.find(([name]) => name.test(file.name))?.[1] }))
    .sort((a, b) => (a.priority ?? 0) - (b.priority ?? 0));
}
