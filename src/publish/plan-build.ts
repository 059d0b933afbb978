import { PakratError } from '../core/errors.ts';
import type { TactKey } from '../formats/configs/key-list.ts';
import { isSafeCdnPath, usualConfigPath } from '../store/layout.ts';
import { EarlierBuild } from './earlier/earlier-build.ts';
import { findLiveBuild, type LiveBuild } from './earlier/live-build.ts';
import type { EncoderOptions } from './encode/encoder.ts';
import type { EspecChoice } from './encode/espec-choice.ts';
import type { PublishFile, RootKind } from './files/publish-file.ts';
import { makeKeyRing, type NamedConfig, type ServiceAnswer } from './manifests/configs.ts';
import type { CdnFolder } from './objects/archive-writer.ts';
import type { EncodeWork } from './objects/encode-files.ts';

interface CdnPaths {
  /** Default `tpr/PRODUCT`. */
  cdnPath?: string | undefined;
  /** Of product configs. Default `tpr/configs/data`. */
  configPath?: string | undefined;
}

/** A build to publish, and where. */
export interface PublishOptions extends CdnPaths, EncoderOptions {
  /** Product code, such as `wow_classic_era`. */
  product: string;
  /** Version name, such as `1.15.7.61582`. Default: `1.0.0.` and the build id. */
  version?: string | undefined;
  /** Default: one more than that of the live build, 1 for the first. */
  buildId?: number | undefined;
  /** The files, in the order in which they are to lie in archives. A few are in memory at a time; of the others a row of keys and names is. */
  files: Iterable<PublishFile>;
  /** How names travel. Default `tvfs`. */
  root?: RootKind | undefined;
  /** Folder for a web server; made when it is not there. Other products and builds in it stay, and what the live build has is not stored again. */
  out: string;
  /** `host` or `host:port`, as `cdns` is to name them. Default: those of the live build, or `localhost`. */
  hosts?: readonly string[] | undefined;
  /** Default: those of the live build, or us, eu, kr, tw, sg and cn. */
  regions?: readonly string[] | undefined;
  /** Sequence number of `versions` and `cdns`; must rise from build to build. Default: the build id, or one more than it was. */
  seqn?: number | undefined;
  /** Keys that everybody is to have who asks for the product. */
  keyRing?: readonly TactKey[] | undefined;
  /** Default: deflated where that makes a file smaller. */
  especs?: EspecChoice | undefined;
  /** Size that no archive exceeds; default (and most) 256 MiB less one: offsets above are not read by all. */
  archiveBytes?: number | undefined;
  /** Called with bytes of files as they are done, and with a file that is done. */
  onProgress?: EncodeWork['onProgress'];
  /** Told what is made when all files are done. */
  onStep?: ((step: string) => void) | undefined;
}

/** A build that is to be made, with every default in its place, and the live one before it. */
export interface BuildPlan {
  folder: CdnFolder;
  live: LiveBuild | undefined;
  /** Needs `close`. */
  earlier: EarlierBuild | undefined;
  archiveBytes: number;
  keyRing: NamedConfig | undefined;
  /** What the tables are to say, but for the configs, which are not made yet. */
  answer: Omit<ServiceAnswer, 'buildConfig' | 'cdnConfig' | 'productConfig'>;
  /** Whether the live build would do, if it has the same files. */
  mayBeLive: boolean;
}

const maxArchiveBytes = 2 ** 28 - 1;
const defaultRegions = ['us', 'eu', 'kr', 'tw', 'sg', 'cn'];

/**
 * Plans a build: what was not said is as in the live build, or usual.
 * @throws E_USAGE for a product or path that cannot be; E_FORMAT…, E_INTEGRITY, E_NOT_FOUND for a live build that is not whole; E_STORE, E_ABORTED
 */
export async function planBuild(options: PublishOptions): Promise<BuildPlan> {
  const { out, product } = options;
  checkWords([product], true);
  if (ownNames.includes(product))
    throw new PakratError('E_USAGE', `${product} cannot be a product: a CDN folder has it for itself`);
  const live = findLiveBuild(out, product);
  const { cdnPath = live?.cdnPath ?? `tpr/${product}`, configPath = usualConfigPath } = options;
  const { buildId = (live?.buildId ?? 0) + 1, version = `1.0.0.${buildId}` } = options;
  checkWords([version], true);
  checkWords([cdnPath, configPath], false);
  if (!(Number.isInteger(buildId) && buildId >= 0 && buildId < 2 ** 32))
    throw new PakratError('E_USAGE', `${buildId} cannot be a build id`);
  const folder = { out, cdnPath };
  const archiveBytes = archiveBytesOf(options);
  const keyRing = options.keyRing?.length ? makeKeyRing(options.keyRing) : undefined;
  const hosts = options.hosts?.length ? options.hosts : live?.hosts.length ? live.hosts : ['localhost'];
  const regions = options.regions ?? (live?.regions.length ? live.regions : defaultRegions);
  const seqn = options.seqn ?? Math.max(buildId, (live?.seqn ?? -1) + 1);
  const isSame = (asked: string | number | undefined, found: string | number | undefined): boolean =>
    asked === undefined || asked === found;
  return {
    folder,
    live,
    // One that was published under another path has no objects here.
    earlier: live?.cdnPath === cdnPath ? await EarlierBuild.open(folder, live, options.signal) : undefined,
    archiveBytes,
    keyRing,
    answer: { product, version, buildId, keyRing: keyRing?.name ?? '', cdnPath, configPath, hosts, regions, seqn },
    mayBeLive:
      isSame(options.version, live?.version) &&
      isSame(options.buildId, live?.buildId) &&
      isSame(keyRing?.name, live?.keyRing),
  };
}

/** What lies beside the folders of products. */
const ownNames = ['tpr', 'v2', 'summary'];

/** What becomes a file name, a cell of a table or a word of a config must be one word. */
function checkWords(words: readonly string[], single: boolean): void {
  for (const word of words) {
    if (!isSafeCdnPath(word) || word.length > 64 || (single && word.includes('/'))) {
      throw new PakratError('E_USAGE', `${JSON.stringify(word)} cannot be a product, a version or a path of one`, {
        hint: 'Letters, digits, dots, dashes and underscores are possible.',
      });
    }
  }
}

function archiveBytesOf({ archiveBytes = maxArchiveBytes }: PublishOptions): number {
  if (archiveBytes >= 1 && archiveBytes <= maxArchiveBytes) return archiveBytes;
  throw new PakratError('E_USAGE', `archives of ${archiveBytes} bytes: 1 to ${maxArchiveBytes} are possible`);
}
