import type { ServiceAnswer } from '../manifests/configs.ts';

/** Keeps an object of channels, and gives back its name: the MD5 of its bytes. */
export type PutChannelObject = (json: Record<string, unknown>) => string;

/** Folder of the objects, as the summary names it. */
export const channelFolder = 'v2/channels';

/**
 * The row of a product in the catalogue of channels; the definitions and lists of hosts that it names are put.
 * @param answers of one product, each with regions of its own
 */
export function makeCatalogueRow(
  product: string,
  answers: readonly ServiceAnswer[],
  put: PutChannelObject,
): Record<string, unknown> {
  const builds = answers.map((answer) => ({ branches: answer.regions, definition: put(definitionOf(answer)) }));
  const regions = answers.map(({ regions: branches, hosts }) => ({
    branches,
    cdns: put({ hosts: hosts.map((host) => ({ host: `http://${host}/?maxhosts=4` })) }),
  }));
  return { product: product.toUpperCase(), variant: product, infrastructure: false, builds, regions };
}

function definitionOf(answer: ServiceAnswer): Record<string, unknown> {
  return {
    armadilloKey: '',
    build: { name: answer.version, token: `${answer.product}-${answer.buildId}` },
    buildKey: answer.buildConfig,
    cdnKey: answer.cdnConfig,
    keyRing: answer.keyRing,
    path: answer.cdnPath,
    productConfig: { cdnPath: answer.configPath, hash: answer.productConfig },
    versionNumber: answer.buildId,
    versionString: answer.version,
  };
}

/** The summary of channels that names a catalogue. */
export function makeChannelSummary(catalogue: string): Record<string, unknown> {
  return { public: { channel: catalogue }, path: `${channelFolder}/` };
}
