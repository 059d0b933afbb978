import { isOurTrouble, valueUnless } from '../../core/errors.ts';
import { productAnswer, type ResolveContext } from './product-answer.ts';

/**
 * Keeps what the version services say of a product's build to come (`bgdl`), which is gone when it is live. Only the service that answered last is
 * asked, and that it says nothing, as most of the time, is no trouble.
 * @throws E_ABORTED, E_STORE…
 */
export async function keepPreloads(context: ResolveContext, product: string): Promise<void> {
  const { ledger, online } = context;
  const [last] = ledger.answers(product, 'versions');
  if (online === undefined || last === undefined) return;
  const quiet = { ...context, online: { ...online, services: [last.service], onAsk: undefined, onProblem: undefined } };
  await valueUnless((error) => !isOurTrouble(error), productAnswer(quiet, product, 'bgdl'));
}
