import { resultUnless } from '../../core/errors.ts';
import { type Bpsv, decodeBpsv } from '../../formats/services/bpsv.ts';
import type { Ledger } from '../../store/ledger/ledger.ts';

/** The table that the version service of a product gave last, as the ledger keeps it. One that is damaged tells nothing: undefined, as for none. */
export function newestTable(ledger: Ledger, product: string, endpoint: 'versions' | 'cdns' | 'bgdl'): Bpsv | undefined {
  const [newest] = ledger.answers(product, endpoint);
  return resultUnless(
    () => true,
    () => newest && decodeBpsv(newest.body),
  );
}
