import * as Args from '@oclif/core/args';
import { PakratCommand } from './base-command.ts';
import type { GlobalFlags } from './global-options.ts';

/** The argument of the commands that show what a version service says. */
export const productArgs = {
  product: Args.string({
    description: 'Product code, such as wow or wow_classic_era.',
    required: true,
    ignoreStdin: true,
  }),
};

/** What `versions --json` and `cdns --json` print. */
export interface ProductTable {
  product: string;
  /** Sequence number; null for an answer that has none. */
  seqn: number | null;
  /** Every row, keyed by column name. */
  rows: Record<string, string>[];
}

/** The commands that show a table of a version service: they differ in the endpoint alone. */
export abstract class ProductCommand extends PakratCommand {
  protected async show(product: string, flags: GlobalFlags, endpoint: 'versions' | 'cdns'): Promise<ProductTable> {
    const options = this.globals(flags);
    const { productAnswer, withAnswers } = await import('./product-answer.ts');
    const { renderAnswer } = await import('./render/answer.ts');
    const hooks = { note: (text: string) => this.note(text), signal: this.signal };
    const answer = await withAnswers(options, hooks, (context) => productAnswer(context, product, endpoint));
    const { bpsv, seqn, service, time } = answer;
    const when = time === undefined ? '' : `, as it was at ${new Date(time).toISOString()}`;
    this.log(
      `${endpoint} of ${product}, seqn ${seqn ?? 'none'}, from ${service.replace('/{product}/{endpoint}', '')}${when}\n`,
    );
    this.log(renderAnswer(bpsv));
    return { product, seqn: seqn ?? null, rows: [...bpsv.rows] };
  }
}
