import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { encodeRibbit } from '../../../src/formats/services/ribbit-mime.ts';
import { putChannels } from '../../../src/publish/answers/put-channels.ts';
import { makeCdns, makeSummary, makeVersions, type ServiceAnswer } from '../../../src/publish/manifests/configs.ts';

/** Writes a file, and the folders above it. */
export function writeInto(path: string, bytes: Uint8Array | string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, bytes);
}

/** Writes what the version services say of a product: over HTTP under both forms of the URL, over Ribbit and over channels. */
export function writeServices(root: string, answer: ServiceAnswer): void {
  const versions = makeVersions(answer);
  const text = new TextDecoder().decode(versions);
  const background = new TextEncoder().encode(`${text.slice(0, text.indexOf('\n'))}\n## seqn = 1002\n`);
  const tables = { versions, cdns: cdnsWithFallback(answer), bgdl: background };
  for (const [name, data] of Object.entries(tables)) {
    const path = `products/${answer.product}/${name}`;
    writeInto(join(root, 'www', answer.product, name), data);
    writeInto(join(root, 'www/v2', path), data);
    writeInto(join(root, 'ribbit/v2', path), data);
    writeInto(join(root, 'ribbit/v1', path), encodeRibbit({ data, disposition: name }));
  }
  const summary = join(root, 'www/v2/summary');
  const list = makeSummary(answer, existsSync(summary) ? readFileSync(summary) : undefined);
  writeInto(summary, list);
  writeInto(join(root, 'ribbit/v2/summary'), list);
  writeInto(join(root, 'ribbit/v1/summary'), encodeRibbit({ data: list, disposition: 'summary' }));
  putChannels(join(root, 'www'), answer);
}

/** Every host stands there again under TLS, to be asked when no other answers. */
function cdnsWithFallback(answer: ServiceAnswer): Uint8Array {
  const table = makeCdns({ ...answer, regions: ['us', 'eu', 'kr', 'tw', 'cn'], seqn: 1001 });
  const server = /http:\/\/([^/]+)\/\?maxhosts=4/g;
  return new TextEncoder().encode(
    new TextDecoder().decode(table).replace(server, '$& https://$1/?fallback=1&maxhosts=4'),
  );
}
