import { isPakratError, messageOf, resultUnless } from '../../core/errors.ts';
import { md5Hex } from '../../core/hash.ts';
import { readable, readOwn, sizeOfFile } from '../../files/read-at.ts';
import type { OnUnread } from '../../files/walk.ts';
import { type BuildConfig, decodeBuildConfig } from '../../formats/configs/build-config.ts';
import { type CdnConfig, decodeCdnConfig } from '../../formats/configs/cdn-config.ts';
import { decodeConfig } from '../../formats/configs/config-file.ts';
import { hashFiles } from '../read-file.ts';

/** A build of which the config lies in a folder. */
export interface ListedBuild {
  key: string;
  /** `build-name`; empty when it has none. */
  name: string;
  config: BuildConfig;
}

/** The configs of a folder, by what they are. */
export interface FolderConfigs {
  builds: ListedBuild[];
  cdns: { key: string; config: CdnConfig }[];
  keyRings: string[];
  notes: string[];
}

/** A folder without configs, to be added to. */
export function noConfigs(): FolderConfigs {
  return { builds: [], cdns: [], keyRings: [], notes: [] };
}

/** Configs are text of at most some MB; what is larger is none. */
const maxSize = 32 << 20;

/** Reads the configs below a `config` folder. Those that are damaged or of another kind are left out; damage is noted. */
export function folderConfigs(folder: string): FolderConfigs {
  const configs = noConfigs();
  const onUnread: OnUnread = (path, error) =>
    void configs.notes.push(`configs in ${path} cannot be read: ${messageOf(error)}`);
  for (const { name, file } of hashFiles(folder, onUnread)) {
    if (!/^[0-9a-f]{32}$/.test(name) || (sizeOfFile(file) ?? 0) > maxSize) continue;
    const bytes = resultUnless(isPakratError, () => readable(file, () => readOwn(file)));
    if (bytes !== undefined && md5Hex(bytes) === name) addConfig(configs, name, bytes);
    else configs.notes.push(`config ${name} is damaged`);
  }
  return configs;
}

/** Adds a config whose hash is right to those of its kind; one of a kind that is not known here to none. */
export function addConfig(configs: FolderConfigs, key: string, bytes: Uint8Array): void {
  try {
    const { entries, get } = decodeConfig(bytes);
    const [first] = entries;
    if (get('archives') !== undefined || get('archive-group') !== undefined) {
      configs.cdns.push({ key, config: decodeCdnConfig(bytes) });
    } else if (first?.key.startsWith('key-') === true && get('encoding') === undefined) {
      configs.keyRings.push(key);
    } else if (get('encoding') !== undefined) {
      const config = decodeBuildConfig(bytes);
      configs.builds.push({ key, name: config.name, config });
    }
  } catch (error) {
    // Its hash is right: it is of a kind that is not known here.
    if (!isPakratError(error)) throw error;
  }
}
