/** `lz4-dictionary` as `lz4Dictionary`. */
type CamelCase<Name> = Name extends `${infer Head}-${infer Tail}` ? `${Head}${Capitalize<CamelCase<Tail>>}` : Name;

/** The values of a group of flags as options of the library, whose names are those of the flags in camel case. */
export function optionsOf<Name extends string, Values extends { [Key in Name]?: unknown }>(
  group: Readonly<Record<Name, unknown>>,
  flags: Values,
): { [Key in Name as CamelCase<Key>]: Values[Key] } {
  const values = (Object.keys(group) as Name[]).map((name) => [
    name.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase()),
    flags[name],
  ]);
  return Object.fromEntries(values);
}
