/** The bytes of a text, for the text formats. */
export function text(...lines: string[]): Uint8Array {
  return new TextEncoder().encode(lines.join('\n'));
}

/** What a load balancer sends in place of an object. */
export const htmlPage = text(
  '<!DOCTYPE html>',
  '<html lang="en"><head><title>502</title></head>',
  '<body>a = b | c</body></html>',
);

/** An error with this code, for `toThrow`-like checks: `instanceof` does not hold inside jest. */
export function codeThrownBy(run: () => unknown): string | undefined {
  try {
    run();
  } catch (error) {
    return (error as { code?: string }).code ?? String(error);
  }
  return undefined;
}
