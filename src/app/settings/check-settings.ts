import { type Schema, Validator } from '@cfworker/json-schema';
import schema from '../../../config/schema.json' with { type: 'json' };
import { PakratError } from '../../core/errors.ts';

/*
 * Settings that come from outside are checked where they come in. The validator is as large as what a short command needs beside it, and
 * most people have no settings of their own.
 */

const validator = new Validator(schema as Schema, '2020-12');

/** @param name whose settings they are @throws E_USAGE that names the first of them that config/schema.json forbids */
export function checkSettings(name: string, settings: unknown): void {
  // Members that are undefined are none.
  const problem = validator.validate(JSON.parse(JSON.stringify(settings))).errors.at(-1);
  if (problem === undefined) return;
  const setting = problem.instanceLocation.slice('#/'.length).replaceAll('/', '.');
  const what = problem.keyword === 'false' ? `there is no setting ${setting}` : `${setting}: ${problem.error}`;
  throw new PakratError('E_USAGE', `${name}: ${what}`, {
    hint: 'config/schema.json says what every setting may be.',
    data: { file: name, setting },
  });
}
