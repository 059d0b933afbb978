import picomatch from 'picomatch';

/** A test of names against globs: case and the direction of slashes do not matter, and a glob without `/` matches the last part of a name. */
export function nameMatcher(globs: readonly string[]): (name: string) => boolean {
  const tests = globs.map((glob) => {
    const pattern = glob.replaceAll('\\', '/');
    const test = picomatch(pattern, { nocase: true, dot: true });
    return pattern.includes('/') ? test : (name: string) => test(name.slice(name.lastIndexOf('/') + 1));
  });
  return (name) => tests.some((test) => test(name));
}

/** True for text that has a character of a glob in it. */
export function hasGlob(text: string): boolean {
  return /[*?[{]/.test(text);
}
