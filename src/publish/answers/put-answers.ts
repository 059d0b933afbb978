import * as fs from 'node:fs';
import { join } from 'node:path';
import { makeCdns, makeSummary, makeVersions, type ServiceAnswer } from '../manifests/configs.ts';
import { putChannels, putTable, readTable } from './put-channels.ts';

/**
 * Brings a build to life: writes `cdns` and `versions` under both URLs that clients ask, the list of all products, and the channels. Each
 * is replaced in one go. The `versions` that a further publish reads comes first: who was killed before it has done nothing, and what is
 * killed behind it is put right by the next.
 * @throws E_FORMAT… for a list that is there and damaged, E_STORE_FULL, E_STORE
 */
export function putAnswers(out: string, answer: ServiceAnswer): void {
  const tables = { cdns: makeCdns(answer), versions: makeVersions(answer) };
  for (const folder of [join(out, answer.product), join(out, 'v2', 'products', answer.product)]) {
    for (const [name, bytes] of Object.entries(tables)) putTable(join(folder, name), bytes, out);
  }
  const summary = join(out, 'v2', 'summary');
  const before = fs.existsSync(summary) ? readTable(summary) : undefined;
  putTable(summary, makeSummary(answer, before), out);
  putChannels(out, answer);
}
