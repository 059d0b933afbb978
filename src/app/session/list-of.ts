/** An option that may be given once or several times, as a list. */
export function listOf(value: string | readonly string[] | undefined): readonly string[] {
  return typeof value === 'string' ? [value] : (value ?? []);
}
