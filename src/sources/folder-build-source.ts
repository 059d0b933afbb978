import type { Build } from '../builds/build.ts';
import type { FolderBuild } from '../installs/folder-build.ts';
import { type BuildSource, buildSource } from './build-source.ts';

/** A build that lies in a folder as a source: it also says what of it is in the folder. Closing it closes the build and the folder. */
export function folderBuildSource(build: Build, folder: FolderBuild, options: { locale: string }): BuildSource {
  const { isHere } = folder;
  const noteOf = (ekeys: readonly string[]): string | undefined =>
    isHere === undefined || ekeys.length === 0 || isHere(ekeys) ? undefined : 'not installed';
  const source = buildSource(build, { locale: options.locale, noteOf });
  return {
    ...source,
    kind: folder.kind,
    label: folder.path,
    async info() {
      const { kind, archives, archiveEntries, looseFiles, cdnConfig, notes = [], ...facts } = await source.info();
      const own = await folder.info(build);
      // The name of what several CDN configs list is nobody's.
      const isOwn = own.cdnConfigs === undefined || listOf(own.cdnConfigs).includes(String(cdnConfig));
      const ofCdn = isOwn ? { cdnConfig } : {};
      return { kind: folder.kind, ...own, ...facts, ...ofCdn, notes: [...listOf(notes), ...listOf(own.notes)] };
    },
    async close() {
      await source.close();
      folder.close();
    },
  };
}

function listOf(notes: unknown): string[] {
  return Array.isArray(notes) ? notes : [];
}
