/** A request that was answered, refused, or cut. */
export interface LogEntry {
  /** Milliseconds since 1970 when its answer ended. */
  time: number;
  /** Address of the client's end of the connection. */
  address: string;
  /** `GET`, and so on; `RIBBIT` for a line of Ribbit; empty for a request that could not be read. */
  method: string;
  url: string;
  /** `HTTP/1.1`, `Ribbit/1`, … */
  protocol: string;
  status: number;
  /** Bytes of the body that were sent. */
  bytes: number;
  /** Milliseconds that the answer took. */
  ms: number;
  agent: string | undefined;
}

/** The forms in which an access log can be written, by name. */
export const logFormats: Readonly<Record<'common' | 'json', (entry: LogEntry) => string>> = {
  common: commonLine,
  json: jsonLine,
};

/**
 * A line of the common log format, as Apache and nginx have it. What a client sent cannot end the line or a quotation in it: whatever is not
 * printable ASCII, and `"` and `\`, stands as `\xHH`.
 */
function commonLine({ address, time, method, url, protocol, status, bytes }: LogEntry): string {
  const request = escaped([method, url, protocol].filter((part) => part !== '').join(' '));
  return `${escaped(address)} - - [${commonTime(time)}] "${request || '-'}" ${status} ${bytes || '-'}`;
}

/** A line of JSON, in which nothing but printable ASCII stands: control characters and the line breaks of Unicode are escaped. */
function jsonLine({ time, ms, ...entry }: LogEntry): string {
  const json = JSON.stringify({ time: new Date(time).toISOString(), ...entry, ms: Math.round(ms) });
  return json.replace(/[^\x20-\x7e]/g, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

function escaped(text: string): string {
  return text.replace(/[^\x20-\x7e]|["\\]/g, (one) =>
    [...Buffer.from(one)].map((byte) => `\\x${byte.toString(16).padStart(2, '0')}`).join(''),
  );
}

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** `22/Nov/2026:22:13:13 +0000`. */
function commonTime(time: number): string {
  const date = new Date(time);
  const clock = date.toISOString().slice(11, 19);
  const day = String(date.getUTCDate()).padStart(2, '0');
  return `${day}/${months[date.getUTCMonth()]}/${date.getUTCFullYear()}:${clock} +0000`;
}
