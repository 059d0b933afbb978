import { isPakratError, PakratError } from '../core/errors.ts';
import { formatBytes, plural } from '../core/quantities.ts';
import type { TransferFailure } from '../fetch/transfer/transfer.ts';
import type { Ledger } from '../store/ledger/ledger.ts';
import type { Amount, BuildIdentity } from '../store/ledger/rows.ts';

const runAgain = 'Run the same command again to go on; what was fetched stays.';
const askOthers = 'No host has the rest right: --cdn-host can name a mirror that does. What was fetched stays.';

/** The error of a sync after which something is missing: how much, and what the first host said of the first of it. */
export function incomplete(
  { wanted, held, missing }: { wanted: Amount; held: Amount; missing: Amount },
  failures: readonly TransferFailure[],
): PakratError {
  const messages = [...new Map(failures.map(({ path, message }) => [path, message])).values()];
  const what =
    missing.entries > 0
      ? `${plural(missing.entries, 'entry is', 'entries are')} still missing (${formatBytes(missing.bytes)})`
      : `${plural(messages.length, 'object is', 'objects are')} missing`;
  const why = messages.length > 0 ? `: ${messages[0]}` : '';
  const more = messages.length > 1 ? `; and ${plural(messages.length - 1, 'object more', 'objects more')}` : '';
  const isNowhere =
    failures.length > 0 && failures.every(({ code, wrong }) => code === 'E_NOT_FOUND' || wrong === true);
  return new PakratError('E_INCOMPLETE', `${what}${why}${more}`, {
    hint: isNowhere ? askOthers : runAgain,
    data: {
      wantedEntries: wanted.entries,
      wantedBytes: wanted.bytes,
      heldEntries: held.entries,
      heldBytes: held.bytes,
      missingEntries: missing.entries,
      missingBytes: missing.bytes,
      failures: messages.slice(0, 20),
    },
  });
}

/** That hosts which work gave some object wrong each time may be over when the command is run again, as for any entry that is left. */
export function resumable(error: unknown): unknown {
  if (!isPakratError(error) || error.code !== 'E_NETWORK_EXHAUSTED') return error;
  const hint = error.data.wrong === true ? error.hint : runAgain;
  return new PakratError('E_INCOMPLETE', error.message, { hint, data: error.data });
}

/** An interruption while data came says how far it was; any other error is given back. */
export function interrupted(error: unknown, ledger: Ledger, { product, buildConfig }: BuildIdentity): unknown {
  if (!isPakratError(error) || error.code !== 'E_ABORTED') return error;
  const row = ledger.builds(product).find((build) => build.buildConfig === buildConfig);
  if (row === undefined) return error;
  const { wanted, held } = row;
  const data = { wantedBytes: wanted.bytes, heldBytes: held.bytes };
  const message = `interrupted: ${formatBytes(held.bytes)} of ${formatBytes(wanted.bytes)} are held`;
  return new PakratError('E_ABORTED', message, { hint: runAgain, data });
}
