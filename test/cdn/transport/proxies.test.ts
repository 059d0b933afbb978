import { expect, test } from '@jest/globals';
import { Proxies, proxyAuthorization } from '../../../src/cdn/transport/proxies.ts';

const both = { httpProxy: 'http://web:3128', httpsProxy: 'http://safe:3129/' };

test.each([
  ['http://example.org/a', 'http://web:3128'],
  ['https://example.org/a', 'http://safe:3129'],
  ['http://localhost:80/', undefined],
  ['http://127.0.0.9:8080/', undefined],
  ['https://[::1]/', undefined],
])('%s is asked of %s', (url, origin) => {
  expect(new Proxies(both).of(new URL(url))?.origin).toBe(origin);
  expect(new Proxies({}).of(new URL(url))).toBeUndefined();
});

test.each([
  ['example.org', 'http://example.org/', true],
  ['example.org', 'http://www.Example.org/', true],
  ['example.org', 'http://myexample.org/', false],
  ['.example.org', 'http://www.example.org/', true],
  ['*.example.org', 'http://www.example.org/', true],
  ['a.org b.org,c.org', 'http://b.org/', true],
  ['example.org:8080', 'http://example.org:8080/', true],
  ['example.org:8080', 'http://example.org/', false],
  ['example.org:443', 'https://example.org/', true],
  ['*', 'http://example.org/', true],
  ['10.1.2.3', 'http://10.1.2.3/', true],
  ['10.0.0.0/8', 'http://10.1.2.3:9/', true],
  ['10.0.0.0/8', 'http://11.1.2.3/', false],
  ['10.0.0.0/99', 'http://10.1.2.3/', false],
  ['10.0.0.0/8', 'http://10.example.org/', false],
  ['fd00::/8', 'http://[fd12::1]/', true],
  ['[fd12::1]:80', 'http://[fd12::1]/', true],
  ['fd12::1', 'http://[fd12::2]/', false],
])('with no_proxy %s, %s is asked itself: %s', (noProxy, url, isDirect) => {
  expect(new Proxies({ ...both, noProxy }).of(new URL(url)) === undefined).toBe(isDirect);
});

test('a proxy needs no scheme, and what is no proxy of http is refused without showing it', () => {
  expect(new Proxies({ httpProxy: 'web:3128' }).of(new URL('http://a/'))?.origin).toBe('http://web:3128');
  for (const httpProxy of ['socks5://me:secret@web', 'https://web', 'http://', 'http://a b', 'http://me:%ff@web'])
    expect(() => new Proxies({ httpProxy })).toThrow(expect.objectContaining({ code: 'E_USAGE' }));
  expect(() => new Proxies({ httpProxy: 'socks5://me:secret@web' })).not.toThrow(/secret/);
});

test('name and password are told as they are meant', () => {
  const sent = proxyAuthorization(new URL('http://me:a%20secret@web'));
  expect(sent).toEqual({ 'proxy-authorization': `Basic ${Buffer.from('me:a secret').toString('base64')}` });
  expect(proxyAuthorization(new URL('http://web'))).toEqual({});
});
