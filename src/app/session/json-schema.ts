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

/** A value's path in its file, what the file is called in messages, and the schema that its references point into. */
interface Position {
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

function check(value: unknown, schema: JsonSchema, at: Position): void {
  if (schema.$ref !== undefined) check(value, at.root.$defs?.[schema.$ref.replace('#/$defs/', '')] ?? {}, at);
  if (schema.type === 'object') checkObject(value, schema, at);
  if (schema.type === 'array') checkArray(value, schema, at);
  if (schema.type === 'string') checkString(value, schema, at);
  if (schema.type === 'integer') checkInteger(value, schema, at);
}

function checkObject(value: unknown, schema: JsonSchema, at: Position): void {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw refuse(at, 'an object', value);
  for (const name of schema.required ?? []) {
    if (!Object.hasOwn(value, name)) throw refuse(inside(at, name), 'a value', undefined);
  }
  const known = schema.properties ?? {};
  for (const [name, item] of Object.entries(value)) {
    const rule = Object.hasOwn(known, name) ? known[name] : schema.additionalProperties;
    if (rule === false) throw unknownName(inside(at, name), Object.keys(known));
    if (typeof rule === 'object') check(item, rule, inside(at, name));
  }
}

function checkArray(value: unknown, schema: JsonSchema, at: Position): void {
  if (!Array.isArray(value)) throw refuse(at, 'a list', value);
  if (value.length < (schema.minItems ?? 0)) throw refuse(at, 'a list that is not empty', value);
  for (const [index, item] of value.entries()) check(item, schema.items ?? {}, inside(at, String(index)));
}

function checkString(value: unknown, schema: JsonSchema, at: Position): void {
  if (typeof value !== 'string') throw refuse(at, 'a text', value);
  if (schema.pattern !== undefined && !new RegExp(schema.pattern).test(value)) {
    throw refuse(at, `a text like ${schema.pattern}`, value);
  }
}

function checkInteger(value: unknown, schema: JsonSchema, at: Position): void {
  const { minimum = Number.MIN_SAFE_INTEGER, maximum = Number.MAX_SAFE_INTEGER } = schema;
  if (!Number.isSafeInteger(value) || (value as number) < minimum || (value as number) > maximum) {
    throw refuse(at, `a whole number from ${minimum} to ${maximum}`, value);
  }
}

function inside(at: Position, name: string): Position {
  return { ...at, path: at.path === '' ? name : `${at.path}.${name}` };
}

function refuse(at: Position, expected: string, found: unknown): PakratError {
  const shown = found === undefined ? 'nothing' : JSON.stringify(found).slice(0, 80);
  const what = at.path === '' ? at.file : `${at.file}: ${at.path}`;
  return new PakratError('E_USAGE', `${what} must be ${expected}, found ${shown}`, {
    hint: 'config/schema.json says what every setting may be.',
    data: { file: at.file, setting: at.path },
  });
}

function unknownName(at: Position, known: string[]): PakratError {
  return new PakratError('E_USAGE', `${at.file}: there is no setting ${at.path}`, {
    hint: `Known here: ${known.filter((name) => !name.startsWith('$')).join(', ')}.`,
    data: { file: at.file, setting: at.path },
  });
}
