import { existsSync } from 'node:fs';
import { PakratError } from '../core/errors.ts';
import { buildSource } from '../sources/build-source.ts';
import type { Source } from '../sources/source.ts';
import { Session, type SessionHooks } from './compose.ts';
import type { GlobalOptions } from './global-options.ts';

/** Opens what a person names: an existing path is local, anything else is a product; `tact:`, `pak:`, `casc:`, `cdn:` in front force the reading. */
export async function withSource<Result>(
  options: GlobalOptions,
  text: string,
  context: { hooks: SessionHooks; threads?: number },
  body: (source: Source) => Promise<Result>,
): Promise<Result> {
  const [, scheme, rest] = /^(tact|pak|casc|cdn):(.*)$/.exec(text) ?? [undefined, undefined, text];
  if (scheme !== undefined && scheme !== 'tact') throw unsupported(text);
  if (scheme === undefined && existsSync(text)) throw unsupported(text);
  const session = new Session(options, { create: true, threads: context.threads ?? 0 }, context.hooks);
  try {
    const build = await session.openBuild(await session.resolve(rest!));
    const source = buildSource(build, { locale: options.locale });
    try {
      return await body(source);
    } finally {
      await source.close();
    }
  } finally {
    await session.close();
  }
}

function unsupported(text: string): PakratError {
  return new PakratError('E_UNSUPPORTED', `${text}: sources of this kind cannot be read yet`, {
    hint: 'Name a product, such as wow_classic_era.',
  });
}
