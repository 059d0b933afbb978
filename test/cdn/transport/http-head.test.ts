import { describe, expect, test } from '@jest/globals';
import {
  checkRangeHead,
  parseContentRange,
  redactUrl,
  retryAfterMs,
  statusError,
} from '../../../src/cdn/transport/http-head.ts';

describe('Content-Range', () => {
  test('a single range with its total is understood', () => {
    expect(parseContentRange('bytes 0-99/1000')).toEqual({ start: 0, end: 100, total: 1000 });
    expect(parseContentRange('Bytes 999-999/1000')).toEqual({ start: 999, end: 1000, total: 1000 });
  });

  test.each([
    undefined,
    '',
    'bytes */1000',
    'bytes 0-99/*',
    'bytes 0-99',
    '0-99/1000',
    'bytes 99-0/1000',
    'bytes 0-1000/1000',
    'bytes -1-99/1000',
    'bytes 0-99/1000, 200-299/1000',
    'bytes 0x0-0x63/1000',
    'bytes 0-99/1e9',
    'bytes 0-9999999999999999999/99999999999999999999',
    'items 0-99/1000',
  ])('%j is none', (value) => {
    expect(parseContentRange(value)).toBeUndefined();
  });
});

describe('checkRangeHead', () => {
  const range = { start: 100, end: 200 };
  const url = 'http://user:secret@host/a';
  const right = { 'content-range': 'bytes 100-199/1000', 'content-length': '100' };
  const check = (status: number, headers: Record<string, string>, allowWhole = false): number =>
    checkRangeHead({ status, headers }, range, { url, allowWhole });

  test('the range that was asked is taken, with or without a length', () => {
    expect(check(206, right)).toBe(100);
    expect(check(206, { 'content-range': 'bytes 100-199/1000' })).toBe(100);
    expect(check(206, { ...right, 'content-encoding': 'identity' })).toBe(100);
  });

  test.each([
    ['no Content-Range', { 'content-length': '100' }],
    ['an earlier range', { ...right, 'content-range': 'bytes 99-199/1000' }],
    ['a later end', { ...right, 'content-range': 'bytes 100-200/1000' }],
    ['a shorter range', { ...right, 'content-range': 'bytes 100-198/1000' }],
    ['a total alone', { ...right, 'content-range': 'bytes */1000' }],
    ['a longer length', { ...right, 'content-length': '101' }],
    ['a shorter length', { ...right, 'content-length': '99' }],
    ['a length that is none', { ...right, 'content-length': '1e2' }],
    ['several ranges', { 'content-type': 'multipart/byteranges; boundary=x', 'content-length': '300' }],
    ['gzip', { ...right, 'content-encoding': 'gzip' }],
  ])('%s is refused', (_, headers) => {
    expect(() => check(206, headers)).toThrow(expect.objectContaining({ code: 'E_NETWORK_RANGE' }));
  });

  test('200 is no range, and says that the host ignored it', () => {
    expect(() => check(200, { 'content-length': '1000' })).toThrow(
      expect.objectContaining({ code: 'E_NETWORK_RANGE', data: { url: 'http://host/a', ignoredRange: true } }),
    );
    expect(check(200, { 'content-length': '1000' }, true)).toBe(0);
  });

  test.each([
    ['too short to be the object', { 'content-length': '199' }],
    ['a page', { 'content-type': 'text/html; charset=utf-8' }],
    ['a long page', { 'content-type': 'Text/HTML', 'content-length': '100000' }],
  ])('200 with %s is an error of its own: the host may know ranges', (_, headers) => {
    expect(() => check(200, headers)).toThrow(
      expect.objectContaining({ code: 'E_NETWORK_RANGE', data: { url: 'http://host/a' } }),
    );
  });

  test('200 for a range that is the whole object is that object', () => {
    const whole = { start: 0, end: 1000 };
    expect(checkRangeHead({ status: 200, headers: { 'content-length': '1000' } }, whole, { url })).toBe(0);
    expect(() => checkRangeHead({ status: 200, headers: { 'content-length': '999' } }, whole, { url })).toThrow();
    expect(() => checkRangeHead({ status: 200, headers: {} }, whole, { url })).toThrow();
  });

  test.each([204, 301, 302, 400, 403, 404, 416, 429, 500, 503])('%d is an error that names it', (status) => {
    expect(() => check(status, right)).toThrow(
      expect.objectContaining({ code: 'E_NETWORK_STATUS', data: expect.objectContaining({ status }) }),
    );
  });
});

describe('Retry-After', () => {
  const now = Date.parse('2026-08-01T00:00:00Z');
  test.each([
    ['0', 0],
    ['7', 7000],
    ['60', 60_000],
    ['86400', 3_600_000],
    ['99999999999999999999', 3_600_000],
    ['Sat, 01 Aug 2026 00:00:05 GMT', 5000],
    ['Fri, 31 Jul 2026 00:00:00 GMT', 0],
    ['Sat, 01 Aug 2099 00:00:00 GMT', 3_600_000],
  ])('%s is %d ms', (value, ms) => {
    expect(retryAfterMs(value, now)).toBe(ms);
  });

  test.each([undefined, '', 'soon', '-5', '1.5', '5 seconds'])('%j is none, or none that hurts', (value) => {
    const ms = retryAfterMs(value, now);
    expect(ms === undefined || (ms >= 0 && ms <= 3_600_000)).toBe(true);
  });

  test('travels with the error of the status', () => {
    const error = statusError({ status: 503, headers: { 'retry-after': '3' } }, 'http://h/a');
    expect(error.data).toMatchObject({ status: 503, retryAfter: 3000 });
  });
});

test('a URL is shown without name and password', () => {
  expect(redactUrl('https://me:secret@host:1/a@b?c=d@e')).toBe('https://host:1/a@b?c=d@e');
  expect(redactUrl('https://host/a@b')).toBe('https://host/a@b');
});
