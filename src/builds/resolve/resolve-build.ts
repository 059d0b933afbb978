import { rowOfRegion } from '../../cdn/versions/region-rows.ts';
import { isKeyHex } from '../../core/bytes.ts';
import { isPakratError, PakratError } from '../../core/errors.ts';
import { formatDuration } from '../../core/quantities.ts';
import { waitForAll } from '../../core/wait-for-all.ts';
import { type Bpsv, type BpsvRow, cell, decodeBpsv } from '../../formats/services/bpsv.ts';
import type { BuildIdentity, BuildRow } from '../../store/ledger/rows.ts';
import { type BuildNames, type BuildSpec, findCalled, isCalled, parseBuildSpec } from './build-spec.ts';
import { isRecent, productAnswer, type ResolveContext } from './product-answer.ts';
import { identityOfRow, versionNameOf } from './table-identity.ts';

/** An answer that was given within this time is still good for reading: a person works on one build for a while. */
const freshMs = 5 * 60_000;
/** A younger one is not worth a word. */
const leastMinutes = 3;

/** A build that was found by its name. */
export interface ResolvedBuild extends BuildIdentity {
  /** CDN configs that may be its own, the likeliest first: of a build that no version table names. Else absent. */
  cdnConfigs?: readonly string[];
}

/** What a ledger knows of builds, and the `build-name` of one whose config is held. */
export interface KnownBuilds extends Pick<ResolveContext, 'ledger' | 'region'> {
  buildNameOf: (build: BuildIdentity) => string | undefined;
}

/**
 * The build that a spec means, and where it is: from the version services and, for builds that they no longer name, from what the ledger
 * remembers.
 * @param options.fresh ask the services even when their last answer is recent; else a recent or, when nobody answers, an old answer will do
 * @param options.cdnConfig the CDN config of a build that no version table names
 * @throws E_NOT_FOUND with the builds that are known, E_USAGE for a name that several have, E_OFFLINE, or as productAnswer
 */
export async function resolveBuild(
  context: ResolveContext & KnownBuilds,
  spec: BuildSpec,
  options: { fresh: boolean; cdnConfig?: string | undefined },
): Promise<ResolvedBuild> {
  const { ledger, region, note } = context;
  const { product, build } = spec;
  const cdnConfig = options.cdnConfig?.toLowerCase();
  if (cdnConfig !== undefined && !isKeyHex(cdnConfig)) {
    throw new PakratError('E_USAGE', `${options.cdnConfig} is no CDN config: a key has 32 hex digits`);
  }
  const known = ledger.builds(product);
  const remembered = build === undefined ? undefined : findRemembered(context, known, build);
  if (remembered !== undefined && !options.fresh && cdnConfig === undefined) return remembered;
  if (context.online === undefined) return heldBuild(context, spec, known);
  const [last] = ledger.answers(product, 'versions');
  const mayBeOld = !options.fresh && last !== undefined && isRecent(last.time, freshMs);
  const [versions, cdns] = await waitForAll(
    table(context, spec, 'versions', options.fresh),
    table(context, spec, 'cdns', options.fresh),
  );
  const row = versionRow(context, spec, versions);
  if (row !== undefined) {
    const identity = identityOfRow({ product, region }, row, cdns, note);
    return cdnConfig === undefined ? identity : { ...identity, cdnConfig };
  }
  if (remembered !== undefined && cdnConfig === undefined) return remembered;
  // The build may be newer than an answer that was recent enough.
  if (mayBeOld) return resolveBuild(context, spec, { ...options, fresh: true });
  const unlisted = rowByConfig(context, { product, build: remembered?.buildConfig ?? build }, versions);
  if (unlisted === undefined) throw unknownBuild(spec, known, versions);
  const identity = identityOfRow({ product, region }, unlisted, cdns, note);
  return { ...identity, cdnConfigs: cdnConfig === undefined ? cdnConfigsFor(context, identity) : [cdnConfig] };
}

/** The build of those that the ledger knows that is called so; its build-name is looked up when nothing else tells. */
function findRemembered(
  { buildNameOf }: Pick<KnownBuilds, 'buildNameOf'>,
  known: readonly BuildRow[],
  wanted: string,
): BuildRow | undefined {
  const named = (row: BuildRow): BuildNames => ({ ...row, buildName: buildNameOf(row) });
  return known.find((row) => isCalled(wanted, row)) ?? findCalled(wanted, known, named);
}

/** CDN configs that may be that of a build which nothing names: of the live build, of older answers, of builds that share its CDN path. */
export function cdnConfigsFor(
  { ledger }: Pick<ResolveContext, 'ledger'>,
  { product, cdnPath, cdnConfig }: BuildIdentity,
): string[] {
  const answers = ledger.answers(product, 'versions').flatMap(({ body }) => decodeBpsv(body).rows);
  const asked = answers.flatMap((row) => cell(row, 'CDNConfig')?.toLowerCase() ?? []);
  const builds = ledger.builds().filter((build) => build.cdnPath === cdnPath);
  const all = [cdnConfig, ...asked, ...builds.map((build) => build.cdnConfig)];
  return [...new Set(all)].filter(isKeyHex).slice(0, mostTried);
}

/** CDN configs that are tried at most: each has its indices. */
const mostTried = 16;

/**
 * The build of those that the ledger knows that a spec means, whatever the services say now.
 * @throws E_OFFLINE when none is known, E_NOT_FOUND with those that are, E_USAGE for a name that several have
 */
export function heldBuild(
  context: KnownBuilds & Partial<Pick<ResolveContext, 'note'>>,
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
  const row = findRemembered(context, known, spec.build);
  if (row === undefined) throw unknownBuild(spec, known, undefined);
  return row;
}

/** The build that was live when a version service was last asked. */
function liveBuild(
  { ledger, region, note }: Pick<ResolveContext, 'ledger' | 'region'> & Partial<Pick<ResolveContext, 'note'>>,
  product: string,
  known: readonly BuildRow[],
): BuildRow | undefined {
  const [answer] = ledger.answers(product, 'versions');
  if (answer !== undefined && note !== undefined) noteAge(note, product, answer.time);
  const row = answer && rowOfRegion(decodeBpsv(answer.body), ['Region'], region)?.row;
  const config = row && cell(row, 'BuildConfig')?.toLowerCase();
  return known.find((build) => build.buildConfig === config);
}

/** Says of when the answer is that tells the live build, unless it is of just now. */
function noteAge(note: (text: string) => void, product: string, time: number): void {
  const minutes = Math.round((Date.now() - time) / 60_000);
  if (minutes < leastMinutes) return;
  const age = formatDuration(minutes * 60);
  note(`the live build of ${product} is as of ${age} ago; \`pakrat versions ${product}\` asks again`);
}

/** The newest table of an endpoint: asked for, or remembered when that is recent or when nobody answers. */
async function table(
  context: ResolveContext,
  { product, build }: BuildSpec,
  endpoint: 'versions' | 'cdns',
  fresh: boolean,
): Promise<Bpsv> {
  const [last] = context.ledger.answers(product, endpoint);
  const isUsable = last !== undefined && context.online?.services.includes(last.service) === true;
  if (!fresh && isUsable && isRecent(last.time, freshMs)) {
    // A build that was named is the same whenever it was asked for.
    if (build === undefined && endpoint === 'versions') noteAge(context.note, product, last.time);
    return decodeBpsv(last.body);
  }
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
  const called = findCalled(
    build,
    tables.flatMap((table) => table.rows),
    namesOfRow,
  );
  if (called === undefined) return undefined;
  const { buildConfig } = namesOfRow(called);
  const isNamed = (row: BpsvRow): boolean =>
    isCalled(build, namesOfRow(row)) || namesOfRow(row).buildConfig === buildConfig;
  for (const { columns, seqn, rows } of tables) {
    const found = rowOfRegion({ columns, seqn, rows: rows.filter(isNamed) }, ['Region'], region);
    if (found !== undefined) return found.row;
  }
  return undefined;
}

function namesOfRow(row: BpsvRow): BuildNames {
  return {
    name: versionNameOf(row) ?? '',
    buildId: cell(row, 'BuildId'),
    buildConfig: cell(row, 'BuildConfig')?.toLowerCase() ?? '',
  };
}

/** A build config that no table names, with the CDN config of the live build until its own is found. */
function rowByConfig({ region }: ResolveContext, { build }: BuildSpec, live: Bpsv): BpsvRow | undefined {
  if (build === undefined || !isKeyHex(build)) return undefined;
  const row = rowOfRegion(live, ['Region'], region)?.row;
  if (row === undefined) return undefined;
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
export function knownBuild(context: KnownBuilds, text: string): BuildRow {
  const spec = parseBuildSpec(text);
  const builds = context.ledger.builds(spec.product);
  if (builds.length > 0) return heldBuild(context, spec, builds);
  throw new PakratError('E_NOT_FOUND', `the store has no build of ${spec.product}`, {
    hint: '`pakrat status` shows what it has.',
    data: { product: spec.product },
  });
}
