/** The paths of the views. No product and no CDN path begins with `-`, so that they never meet. */
export const paths = {
  overview: '/',
  style: '/-/style.css',
  script: '/-/script.js',
  icon: '/-/icon.svg',
  build: '/-/build',
  keys: '/-/keys',
  browse: '/-/browse',
  file: '/-/file',
  raw: '/-/raw',
  download: '/-/download',
  selection: '/-/selection',
  diff: '/-/diff',
  history: '/-/history',
  fetching: '/-/fetching',
  fetchingEvents: '/-/fetching/events',
  space: '/-/space',
} as const;

/** A link within the page; parameters that are undefined or empty are left out. */
export function link(path: string, parameters: Readonly<Record<string, string | number | undefined>> = {}): string {
  const given = Object.entries(parameters).filter(([, value]) => value !== undefined && value !== '');
  const query = given.map(([name, value]) => `${name}=${encodeURIComponent(wellFormed(String(value)))}`).join('&');
  return query === '' ? path : `${path}?${query}`;
}

/** Encoded characters of a name that a URL has room for beside the rest. */
const longName = 1500;

/** The parameters that name a file: by its name, or where that is very long by its place among the names. */
export function fileParameters(
  { name, index }: { name: string; index?: number | undefined },
  place: string | undefined,
): Record<string, string | number | undefined> {
  const isLong = encodeURIComponent(wellFormed(name)).length > longName;
  return isLong && place !== undefined ? { at: place } : { name, index };
}

/** A name as the value of a form: browsers change the ends of lines in it otherwise, and what cannot be seen would not be seen. */
export function formValue(name: string): string {
  return encodeURIComponent(wellFormed(name));
}

/** The name that {@link formValue} made a value of; nothing for a value that it did not make. */
export function fromFormValue(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return '';
  }
}

/** Half of a surrogate pair cannot be in a URL. */
export function wellFormed(text: string): string {
  return text.replace(/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g, '\ufffd');
}
