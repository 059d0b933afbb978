import type { BuildIdentity } from '../builds/build.ts';
import { hostsOfRow } from '../cdn/transport/hosts.ts';
import { rowOfRegion } from '../cdn/versions/region-rows.ts';
import { serviceUrls } from '../cdn/versions/service-urls.ts';
import { isKeyHex } from '../core/bytes.ts';
import { isPakratError, PakratError } from '../core/errors.ts';
import { waitForAll } from '../core/wait-for-all.ts';
import { type Bpsv, type BpsvRow, cell, decodeBpsv } from '../formats/services/bpsv.ts';
import { isSafeCdnPath } from '../store/layout.ts';
import type { BuildRow, Ledger } from '../store/ledger/ledger.ts';
import type { GlobalOptions } from './global-options.ts';
import { type AnswerContext, productAnswer } from './product-answer.ts';

/** A build as a person names it: `PRODUCT` or `PRODUCT@BUILD`. */
export interface BuildSpec {
  product: string;
  /** Version name, build id or build config; undefined for the live build. */
  build: string | undefined;
}

/** Takes `PRODUCT[@BUILD]` apart. @throws E_USAGE when it is neither */
export function parseBuildSpec(text: string): BuildSpec {
  const [, product, build] = /^([\w.-]+)(?:@([\w.-]+))?$/.exec(text) ?? [];
  if (product === undefined) {
    throw new PakratError('E_USAGE', `${JSON.stringify(text)} is no product`, {
      hint: 'Write PRODUCT or PRODUCT@BUILD, such as wow_classic_era@1.15.7.61582; or a path that exists.',
    });
  }
  return { product, build };
}

/** An answer that was given within this time is still good for reading: a person works on one build for a while. */
const freshMs = 5 * 60_000;

type ResolveContext = Omit<AnswerContext, 'options'> & { ledger: Ledger; options: GlobalOptions };

/**
 * Which build a spec means, and where it is: from the version service and, for builds that it no longer names, from what the ledger remembers.
 * @param options.fresh ask the service even when its last answer is recent; else a recent or, when nobody answers, an old answer will do
 * @throws E_NOT_FOUND with the builds that are known, E_OFFLINE, or as productAnswer
 */
export async function resolveBuild(
  context: ResolveContext,
  spec: BuildSpec,
  options: { fresh: boolean },
): Promise<BuildIdentity> {
  const known = context.ledger.builds(spec.product);
  if (spec.build !== undefined && !options.fresh) {
    const row = known.find((build) => namesBuild(spec.build!, build.name, build.buildId, build.buildConfig));
    if (row !== undefined) return row;
  }
  if (context.options.offline) return resolveOffline(context, spec, known);
  const [versions, cdns] = await waitForAll(
    table(context, spec.product, 'versions', options.fresh),
    table(context, spec.product, 'cdns', options.fresh),
  );
  const row = versionRow(context, spec, versions) ?? rowByConfig(context, spec, versions);
  if (row !== undefined) return identityOf(context, spec.product, row, cdns);
  const remembered = known.find((build) => namesBuild(spec.build ?? '', build.name, build.buildId, build.buildConfig));
  if (remembered !== undefined) return remembered;
  throw unknownBuild(spec, known, versions);
}

function resolveOffline(context: ResolveContext, spec: BuildSpec, known: readonly BuildRow[]): BuildIdentity {
  const wanted = spec.build;
  if (wanted !== undefined) {
    const row = known.find((build) => namesBuild(wanted, build.name, build.buildId, build.buildConfig));
    if (row !== undefined) return row;
  }
  const answer = context.ledger.answers(spec.product, 'versions')[0];
  const live =
    answer === undefined ? undefined : rowOfRegion(decodeBpsv(answer.body), ['Region'], context.options.region)?.row;
  const config = live === undefined ? undefined : cell(live, 'BuildConfig')?.toLowerCase();
  const row = wanted === undefined ? (known.find((build) => build.buildConfig === config) ?? known[0]) : undefined;
  if (row !== undefined) return row;
  if (known.length > 0) throw unknownBuild(spec, known, undefined);
  throw new PakratError(
    'E_OFFLINE',
    `the store has no build of ${spec.product}, and --offline forbids to ask for one`,
    {
      hint: `Run \`pakrat sync ${spec.product}\` once, or leave --offline away.`,
      data: { product: spec.product },
    },
  );
}

/** The newest table of an endpoint: asked for, or remembered when that is recent or when nobody answers. */
async function table(context: ResolveContext, product: string, endpoint: string, fresh: boolean): Promise<Bpsv> {
  const { ledger, options, note } = context;
  const last = ledger.answers(product, endpoint)[0];
  const services = serviceUrls(options.settings.versionServices, options.region, options.patchUrls);
  const usable = last !== undefined && services.includes(last.service) ? last : undefined;
  if (!fresh && usable !== undefined && isRecent(usable.time)) return decodeBpsv(usable.body);
  try {
    return (await productAnswer(context, product, endpoint)).bpsv;
  } catch (error) {
    if (fresh || last === undefined || !isPakratError(error) || !error.code.startsWith('E_NETWORK')) throw error;
    note(`Note: no version service answers; using what was said at ${new Date(last.time).toISOString()}.`);
    return decodeBpsv(last.body);
  }
}

/** A time to come is none: the clock was put back since. */
function isRecent(time: number): boolean {
  const age = Date.now() - time;
  return age >= 0 && age < freshMs;
}

function namesBuild(wanted: string, name: string, buildId: string | null | undefined, buildConfig: string): boolean {
  return wanted === name || wanted === buildId || wanted.toLowerCase() === buildConfig.toLowerCase();
}

/** The row that a spec means: of the live table, else of tables that the ledger remembers. */
function versionRow(context: ResolveContext, spec: BuildSpec, live: Bpsv): BpsvRow | undefined {
  const { region } = context.options;
  if (spec.build === undefined) {
    const found = rowOfRegion(live, ['Region'], region);
    if (found?.fellBack)
      context.note(`Note: ${spec.product} has no build for region ${region}; taking the one of ${found.region}.`);
    return found?.row;
  }
  const tables = [live, ...context.ledger.answers(spec.product, 'versions').map((answer) => decodeBpsv(answer.body))];
  const fits = (row: BpsvRow): boolean =>
    namesBuild(
      spec.build!,
      cell(row, 'VersionsName', 'VersionName') ?? '',
      cell(row, 'BuildId'),
      cell(row, 'BuildConfig') ?? '',
    );
  for (const { columns, seqn, rows } of tables) {
    const fitting = { columns, seqn, rows: rows.filter(fits) };
    const found = rowOfRegion(fitting, ['Region'], region);
    if (found !== undefined) return found.row;
  }
  return undefined;
}

/** A build config that no table names, with the CDN config of the live build: archives mostly outlive a build. */
function rowByConfig(context: ResolveContext, spec: BuildSpec, live: Bpsv): BpsvRow | undefined {
  if (spec.build === undefined || !isKeyHex(spec.build)) return undefined;
  const row = rowOfRegion(live, ['Region'], context.options.region)?.row;
  if (row === undefined) return undefined;
  context.note('Note: no version table names this build config; using the CDN config of the live build.');
  return {
    CDNConfig: cell(row, 'CDNConfig') ?? '',
    BuildConfig: spec.build.toLowerCase(),
    VersionsName: spec.build.toLowerCase(),
  };
}

function identityOf(context: ResolveContext, product: string, row: BpsvRow, cdns: Bpsv): BuildIdentity {
  const { region } = context.options;
  const found = rowOfRegion(cdns, ['Name'], region);
  const cdnPath = (found === undefined ? undefined : cell(found.row, 'Path'))?.replace(/^\/+|\/+$/g, '');
  if (found === undefined || cdnPath === undefined || !isSafeCdnPath(cdnPath)) {
    throw new PakratError('E_FORMAT', `cdns of ${product} names no usable path for region ${region}`, {
      data: { product, region },
    });
  }
  if (found.fellBack)
    context.note(`Note: cdns of ${product} has no row for region ${region}; taking the one of ${found.region}.`);
  const listed = hostsOfRow(cell(found.row, 'Servers'), cell(found.row, 'Hosts'));
  const configPath = (cell(found.row, 'ConfigPath') ?? 'tpr/configs/data').replace(/^\/+|\/+$/g, '');
  const key = (name: string): string | undefined => keyCell(row, name);
  const buildConfig = key('BuildConfig');
  const cdnConfig = key('CDNConfig');
  if (buildConfig === undefined || cdnConfig === undefined) {
    throw new PakratError('E_FORMAT', `the version table of ${product} names no build config or no CDN config`, {
      data: { product },
    });
  }
  return {
    ...{
      product,
      buildConfig,
      cdnConfig,
      cdnPath,
      configPath: isSafeCdnPath(configPath) ? configPath : 'tpr/configs/data',
    },
    name: cell(row, 'VersionsName', 'VersionName') ?? buildConfig,
    buildId: cell(row, 'BuildId') ?? null,
    productConfig: key('ProductConfig') ?? null,
    keyRing: key('KeyRing') ?? null,
    region: cell(row, 'Region') ?? region,
    hosts: listed.map((host) => (host.fallback ? `${host.base}?fallback=1` : host.base)),
  };
}

function keyCell(row: BpsvRow, name: string): string | undefined {
  const value = cell(row, name)?.toLowerCase();
  return value !== undefined && isKeyHex(value) ? value : undefined;
}

function unknownBuild(spec: BuildSpec, known: readonly BuildRow[], live: Bpsv | undefined): PakratError {
  const names = new Set([
    ...known.map((build) => build.name),
    ...(live?.rows ?? []).flatMap((row) => cell(row, 'VersionsName', 'VersionName') ?? []),
  ]);
  return new PakratError('E_NOT_FOUND', `${spec.product} has no build ${spec.build ?? ''}`.trimEnd(), {
    hint: names.size > 0 ? `Known builds: ${[...names].slice(0, 8).join(', ')}.` : undefined,
    data: { product: spec.product, build: spec.build, known: [...names] },
  });
}
