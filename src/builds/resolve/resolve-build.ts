import { rowOfRegion } from '../../cdn/versions/region-rows.ts';
import { isKeyHex } from '../../core/bytes.ts';
import { isPakratError, PakratError } from '../../core/errors.ts';
import { waitForAll } from '../../core/wait-for-all.ts';
import { type Bpsv, type BpsvRow, cell, decodeBpsv } from '../../formats/services/bpsv.ts';
import type { BuildIdentity, BuildRow } from '../../store/ledger/rows.ts';
import { type BuildSpec, isCalled, parseBuildSpec } from './build-spec.ts';
import { isRecent, productAnswer, type ResolveContext } from './product-answer.ts';
import { identityOfRow, versionNameOf } from './table-identity.ts';

/** An answer that was given within this time is still good for reading: a person works on one build for a while. */
const freshMs = 5 * 60_000;

/**
 * The build that a spec means, and where it is: from the version services and, for builds that they no longer name, from what the ledger
 * remembers.
 * @param options.fresh ask the services even when their last answer is recent; else a recent or, when nobody answers, an old answer will do
 * @throws E_NOT_FOUND with the builds that are known, E_OFFLINE, or as productAnswer
 */
export async function resolveBuild(
  context: ResolveContext,
  spec: BuildSpec,
  options: { fresh: boolean },
): Promise<BuildIdentity> {
  const known = context.ledger.builds(spec.product);
  const remembered = rememberedBuild(known, spec);
  if (remembered !== undefined && !options.fresh) return remembered;
  if (context.online === undefined) return heldBuild(context, spec, known);
  const [versions, cdns] = await waitForAll(
    table(context, spec.product, 'versions', options.fresh),
    table(context, spec.product, 'cdns', options.fresh),
  );
  const row = versionRow(context, spec, versions) ?? rowByConfig(context, spec, versions);
  const { region, note } = context;
  if (row !== undefined) return identityOfRow({ product: spec.product, region }, row, cdns, note);
  if (remembered !== undefined) return remembered;
  throw unknownBuild(spec, known, versions);
}

function rememberedBuild(known: readonly BuildRow[], { build }: BuildSpec): BuildRow | undefined {
  return build === undefined ? undefined : known.find((row) => isCalled(build, row));
}

/**
 * The build of those that the ledger knows that a spec means, whatever the services say now.
 * @throws E_OFFLINE when none is known, E_NOT_FOUND with those that are
 */
export function heldBuild(
  context: Pick<ResolveContext, 'ledger' | 'region'>,
  spec: BuildSpec,
  known: readonly BuildRow[],
): BuildRow {
  const [first] = known;
  if (first === undefined) {
    const { product } = spec;
    throw new PakratError('E_OFFLINE', `the store has no build of ${product}, and --offline forbids to ask for one`, {
      hint: `Run \`pakrat sync ${product}\` once, or leave --offline away.`,
      data: { product },
    });
  }
  if (spec.build === undefined) return liveBuild(context, spec.product, known) ?? first;
  const row = rememberedBuild(known, spec);
  if (row === undefined) throw unknownBuild(spec, known, undefined);
  return row;
}

/** The build that was live when a version service was last asked. */
function liveBuild(
  { ledger, region }: Pick<ResolveContext, 'ledger' | 'region'>,
  product: string,
  known: readonly BuildRow[],
): BuildRow | undefined {
  const [answer] = ledger.answers(product, 'versions');
  const row = answer && rowOfRegion(decodeBpsv(answer.body), ['Region'], region)?.row;
  const config = row && cell(row, 'BuildConfig')?.toLowerCase();
  return known.find((build) => build.buildConfig === config);
}

/** The newest table of an endpoint: asked for, or remembered when that is recent or when nobody answers. */
async function table(context: ResolveContext, product: string, endpoint: string, fresh: boolean): Promise<Bpsv> {
  const [last] = context.ledger.answers(product, endpoint);
  const isUsable = last !== undefined && context.online?.services.includes(last.service) === true;
  if (!fresh && isUsable && isRecent(last.time, freshMs)) return decodeBpsv(last.body);
  try {
    return (await productAnswer(context, product, endpoint)).bpsv;
  } catch (error) {
    if (fresh || last === undefined || !isPakratError(error) || !error.code.startsWith('E_NETWORK')) throw error;
    context.note(`no version service answers; using what was said at ${new Date(last.time).toISOString()}`);
    return decodeBpsv(last.body);
  }
}

/** The row that a spec means: of the live table, else of tables that the ledger remembers. */
function versionRow(context: ResolveContext, { product, build }: BuildSpec, live: Bpsv): BpsvRow | undefined {
  const { region, note, ledger } = context;
  if (build === undefined) {
    const found = rowOfRegion(live, ['Region'], region);
    if (found?.fellBack) note(`${product} has no build for region ${region}; taking the one of ${found.region}`);
    return found?.row;
  }
  const tables = [live, ...ledger.answers(product, 'versions').map((answer) => decodeBpsv(answer.body))];
  for (const { columns, seqn, rows } of tables) {
    const called = { columns, seqn, rows: rows.filter((row) => isRowCalled(build, row)) };
    const found = rowOfRegion(called, ['Region'], region);
    if (found !== undefined) return found.row;
  }
  return undefined;
}

function isRowCalled(wanted: string, row: BpsvRow): boolean {
  const name = versionNameOf(row) ?? '';
  return isCalled(wanted, { name, buildId: cell(row, 'BuildId'), buildConfig: cell(row, 'BuildConfig') ?? '' });
}

/** A build config that no table names, with the CDN config of the live build: archives mostly outlive a build. */
function rowByConfig({ region, note }: ResolveContext, { build }: BuildSpec, live: Bpsv): BpsvRow | undefined {
  if (build === undefined || !isKeyHex(build)) return undefined;
  const row = rowOfRegion(live, ['Region'], region)?.row;
  if (row === undefined) return undefined;
  note('no version table names this build config; using the CDN config of the live build');
  const buildConfig = build.toLowerCase();
  return { CDNConfig: cell(row, 'CDNConfig') ?? '', BuildConfig: buildConfig, VersionsName: buildConfig };
}

function unknownBuild(spec: BuildSpec, known: readonly BuildRow[], live: Bpsv | undefined): PakratError {
  const names = new Set([
    ...known.map((build) => build.name),
    ...(live?.rows ?? []).flatMap((row) => versionNameOf(row) ?? []),
  ]);
  return new PakratError('E_NOT_FOUND', `${spec.product} has no build ${spec.build ?? ''}`.trimEnd(), {
    hint: names.size > 0 ? `Known builds: ${[...names].slice(0, 8).join(', ')}.` : undefined,
    data: { product: spec.product, build: spec.build, known: [...names] },
  });
}

/** A build as the ledger remembers it, whatever the services say now. @throws E_NOT_FOUND */
export function knownBuild(context: Pick<ResolveContext, 'ledger' | 'region'>, text: string): BuildRow {
  const spec = parseBuildSpec(text);
  const builds = context.ledger.builds(spec.product);
  if (builds.length > 0) return heldBuild(context, spec, builds);
  throw new PakratError('E_NOT_FOUND', `the store has no build of ${spec.product}`, {
    hint: '`pakrat status` shows what it has.',
    data: { product: spec.product },
  });
}
