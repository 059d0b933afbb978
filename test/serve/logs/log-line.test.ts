import { expect, test } from '@jest/globals';
import { type LogEntry, logFormats } from '../../../src/serve/logs/log-line.ts';

const entry: LogEntry = {
  time: Date.UTC(2026, 10, 2, 3, 4, 5),
  address: '::1',
  method: 'GET',
  url: '/game/versions',
  protocol: 'HTTP/1.1',
  status: 200,
  bytes: 42,
  ms: 1.6,
  agent: 'reader/1',
};

test('a line of the common log format, as Apache writes it', () => {
  expect(logFormats.common(entry)).toBe('::1 - - [02/Nov/2026:03:04:05 +0000] "GET /game/versions HTTP/1.1" 200 42');
  const unreadable = { ...entry, method: '', url: '', protocol: '', status: 400, bytes: 0 };
  expect(logFormats.common(unreadable)).toBe('::1 - - [02/Nov/2026:03:04:05 +0000] "-" 400 -');
});

test('a line of JSON', () => {
  expect(JSON.parse(logFormats.json(entry))).toEqual({ ...entry, time: '2026-11-02T03:04:05.000Z', ms: 2 });
});

test('nothing that a client sent ends a line, a quotation, or reaches a terminal as a command', () => {
  const hostile = { ...entry, url: '/"\\\n\r\0\x1b[2Jä\u2028\x7f', agent: '\x1b]0;x\x07\u2028"' };
  for (const format of ['common', 'json'] as const) expect(logFormats[format](hostile)).toMatch(/^[\x20-\x7e]*$/);
  expect(logFormats.common(hostile)).toContain(
    String.raw`"GET /\x22\x5c\x0a\x0d\x00\x1b[2J\xc3\xa4\xe2\x80\xa8\x7f HTTP/1.1"`,
  );
  expect(JSON.parse(logFormats.json(hostile))).toMatchObject({ url: hostile.url, agent: hostile.agent });
});
