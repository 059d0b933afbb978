// Makes a piece that esbuild wrote as an ES module a CommonJS one. esbuild shares pieces among entries for ES modules only, and would say exports in a way that
// costs as much at every start as is won (docs/adr/0006-bundle.md).
import { init, parse } from 'es-module-lexer';

await init;

/**
 * The code as CommonJS. Pieces need one another one way only, and what they export is set once, as they are loaded: so what is taken from one is a constant.
 * @param name for what it throws when that is not so
 */
export function asCommonJs(code, name) {
  const [imports, exported] = parse(code, name);
  const list = /^export \{[^}]*\};\s*$/m.exec(code);
  if ((list === null) !== (exported.length === 0)) throw new Error(`${name}: exports are not one list at its end`);
  for (const { ln } of exported) if (timesSet(code, ln) > 1) throw new Error(`${name}: ${ln}, an export, is set twice`);
  const changes = imports.map((found) => ({ from: found.ss, to: found.se, text: replacement(found, code) }));
  if (list !== null) changes.push({ from: list.index, to: code.length, text: exportsOf(exported) });
  let made = '"use strict";\n';
  if (imports.some(isMeta)) made += "const importMeta = { url: require('node:url').pathToFileURL(__filename).href };\n";
  let at = 0;
  for (const { from, to, text } of changes) {
    made += code.slice(at, from) + text;
    at = to;
  }
  return made + code.slice(at);
}

const isMeta = ({ d }) => d === -2;

function replacement(found, code) {
  const { ss, se, s, d, n: specifier } = found;
  if (isMeta(found)) return 'importMeta';
  // What is no piece of this program may be an ES module.
  if (d >= 0)
    return specifier?.startsWith('.')
      ? `Promise.resolve().then(() => require(${JSON.stringify(specifier)}))`
      : code.slice(ss, se);
  const required = `require(${JSON.stringify(specifier)})`;
  const clause = code
    .slice(ss + 'import'.length, s - 1)
    .replace(/\bfrom\s*$/, '')
    .trim();
  if (clause === '') return required;
  const [, whole, names] = /^(?:\* as )?([\w$]+)?(?:, )?(\{[^}]*\})?$/.exec(clause) ?? [];
  // Pieces name all that they export.
  const isDefault = whole !== undefined && !clause.startsWith('*') && specifier.startsWith('.');
  if (isDefault || (whole === undefined && names === undefined))
    throw new Error(`an import of another form: ${clause}`);
  const targets = [whole, names?.replace(/([\w$]+) as ([\w$]+)/g, '$1: $2')].filter((one) => one !== undefined);
  return `const ${targets.map((target) => `${target} = ${required}`).join(', ')}`;
}

function exportsOf(exported) {
  return `module.exports = { ${exported.map(({ n, ln }) => (n === ln ? n : `${n}: ${ln}`)).join(', ')} };\n`;
}

/** How many times a name is given a value. One of a smaller scope may have the same name, and counts: better once too often. */
function timesSet(code, name) {
  const pattern = new RegExp(
    `(?<![\\w$.#])${name.replaceAll('$', '\\$')}(?![\\w$])\\s*(?:(?:[-+*/%&|^]|\\*\\*|<<|>>>?|\\|\\||&&|\\?\\?)?=(?![=>])|\\+\\+|--)`,
    'g',
  );
  return code.match(pattern)?.length ?? 0;
}
