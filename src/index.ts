/**
 * pakrat as a library. {@link openPakrat} opens a session: a store with its settings, or none. Formats are `pakrat/formats`, PAK archives for
 * themselves `pakrat/paks`.
 */

export type {
  ChangedFile,
  DiffedContent,
  DiffedFile,
  DiffFailure,
  DiffItem,
  DiffOptions,
  DiffReport,
  DiffSummary,
} from './app/diff.ts';
export type { ExtractOptions, ExtractResult } from './app/extract.ts';
export type { GcOptions, GcReport } from './app/gc.ts';
export type { HistoryReport, SeenBuild } from './app/history.ts';
export type { ImportAmount, ImportOptions, ImportReport } from './app/import.ts';
export type { Inspection, InspectOptions } from './app/inspect.ts';
export type { KeyImport } from './app/keys/import-keys.ts';
export type { ListedKey } from './app/keys/list-keys.ts';
export type { MissingKey } from './app/keys/missing-keys.ts';
export type { KeyUpdate, UpdateKeysOptions } from './app/keys/update-keys.ts';
export type { ListfileChange } from './app/listfile/import-listfile.ts';
export type { ListfileUpdate, UpdateListfileOptions } from './app/listfile/update-listfile.ts';
export type { MountOptions, MountReport } from './app/mount.ts';
export type { PackNadeoOptions, PackOptions, PackReport, PackUnrealOptions } from './app/pack.ts';
export type { PinnedBuild } from './app/pin.ts';
export type { ProductRow, ProductsOptions } from './app/products.ts';
export type { PublishOptions, PublishReport } from './app/publish.ts';
export type { SourceOptions } from './app/session/open-source.ts';
export type { PakOpenOptions } from './app/session/pak-options.ts';
export type { SessionOptions } from './app/session/session-options.ts';
export type { PartialSettings, Settings } from './app/settings/settings.ts';
export type { StatusReport } from './app/status.ts';
export type { SyncedBuilds, SyncFailure, SyncOptions, SyncReport, SyncSeveralOptions } from './app/sync.ts';
export type { VerifyOptions, VerifyProblem, VerifyResult } from './app/verify.ts';
export type { ProductTable } from './app/versions.ts';
export type { WatchEvent, WatchOptions } from './app/watch.ts';
export type { FileInBuild, WhichOptions, WhichReport } from './app/which.ts';
export { type ErrorCode, type ErrorData, errorCodes, isPakratError, PakratError } from './core/errors.ts';
export type { OnProgress, Progress, WorkOptions } from './core/progress.ts';
export { openPakrat, type Pakrat } from './pakrat.ts';
export type { PakratSource, SourceFile, StreamOptions } from './pakrat-source.ts';
