import { PakratError } from '../../core/errors.ts';

/** The part of JSON Schema that config/schema.json uses. A `$ref` points into `$defs` of the same schema. */
export interface JsonSchema {
  type?: 'object' | 'array' | 'string' | 'integer';
  properties?: Record<string, JsonSchema>;
  additionalProperties?: boolean | JsonSchema;
  required?: string[];
  items?: JsonSchema;
  minItems?: number;
  pattern?: string;
  minimum?: number;
  maximum?: number;
  $ref?: string;
  $defs?: Record<string, JsonSchema>;
}

/** Where a value stands: what the file is called in messages, and the schema that its references point into. */
interface Place {
  file: string;
  root: JsonSchema;
  path: string;
}

/**
 * Demands that a parsed JSON value is what a schema allows.
 * @param file what to call the file in messages
 * @throws E_USAGE that names the file, the setting, what is allowed and what stands there
 */
export function checkJson(value: unknown, schema: JsonSchema, file: string): void {
  check(value, schema, { file, root: schema, path: '' });
}

function check(value: unknown, schema: JsonSchema, place: Place): void {
  if (schema.$ref !== undefined) check(value, place.root.$defs?.[schema.$ref.replace('#/$defs/', '')] ?? {}, place);
  if (schema.type === 'object') checkObject(value, schema, place);
  if (schema.type === 'array') checkArray(value, schema, place);
  if (schema.type === 'string') checkString(value, schema, place);
  if (schema.type === 'integer') checkInteger(value, schema, place);
}

function checkObject(value: unknown, schema: JsonSchema, place: Place): void {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw refuse(place, 'an object', value);
  for (const name of schema.required ?? []) {
    if (!Object.hasOwn(value, name)) throw refuse(inside(place, name), 'a value', undefined);
  }
  const known = schema.properties ?? {};
  for (const [name, item] of Object.entries(value)) {
    const rule = Object.hasOwn(known, name) ? known[name] : schema.additionalProperties;
    if (rule === false) throw unknownName(inside(place, name), Object.keys(known));
    if (typeof rule === 'object') check(item, rule, inside(place, name));
  }
}

function checkArray(value: unknown, schema: JsonSchema, place: Place): void {
  if (!Array.isArray(value)) throw refuse(place, 'a list', value);
  if (value.length < (schema.minItems ?? 0)) throw refuse(place, 'a list that is not empty', value);
  for (const [index, item] of value.entries()) check(item, schema.items ?? {}, inside(place, String(index)));
}

function checkString(value: unknown, schema: JsonSchema, place: Place): void {
  if (typeof value !== 'string') throw refuse(place, 'a text', value);
  if (schema.pattern !== undefined && !new RegExp(schema.pattern).test(value)) {
    throw refuse(place, `a text like ${schema.pattern}`, value);
  }
}

function checkInteger(value: unknown, schema: JsonSchema, place: Place): void {
  const { minimum = Number.MIN_SAFE_INTEGER, maximum = Number.MAX_SAFE_INTEGER } = schema;
  if (!Number.isSafeInteger(value) || (value as number) < minimum || (value as number) > maximum) {
    throw refuse(place, `a whole number from ${minimum} to ${maximum}`, value);
  }
}

function inside(place: Place, name: string): Place {
  return { ...place, path: place.path === '' ? name : `${place.path}.${name}` };
}

function refuse(place: Place, expected: string, found: unknown): PakratError {
  const shown = found === undefined ? 'nothing' : JSON.stringify(found).slice(0, 80);
  const what = place.path === '' ? place.file : `${place.file}: ${place.path}`;
  return new PakratError('E_USAGE', `${what} must be ${expected}, found ${shown}`, {
    hint: 'config/schema.json says what every setting may be.',
    data: { file: place.file, setting: place.path },
  });
}

function unknownName(place: Place, known: string[]): PakratError {
  return new PakratError('E_USAGE', `${place.file}: there is no setting ${place.path}`, {
    hint: `Known here: ${known.filter((name) => !name.startsWith('$')).join(', ')}.`,
    data: { file: place.file, setting: place.path },
  });
}
