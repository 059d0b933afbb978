import { describe, expect, test } from '@jest/globals';
import { type Host, hostsOf, hostsOfRow, problemOf, withBothSchemes } from '../../../src/cdn/hosts/host-names.ts';

const host = (base: string, fallback = false): Host => ({ base, fallback });
const bases = (hosts: readonly Host[]): string[] => hosts.map(({ base }) => base);

describe('hostsOfRow', () => {
  test('takes the URLs of Servers, knows a fallback, and takes what only Hosts names', () => {
    const servers = 'http://level3.example/?maxhosts=4 https://cdn.example/?fallback=1&maxhosts=4';
    expect(hostsOfRow(servers, 'cdn.example other.example')).toEqual([
      host('http://level3.example'),
      host('https://cdn.example', true),
      host('http://other.example'),
    ]);
  });

  test('takes Hosts where there are no servers', () => {
    for (const servers of [undefined, '', '  ']) {
      const expected = ['http://one.example', 'http://two.example:8080', 'https://three.example:443'];
      expect(bases(hostsOfRow(servers, ' one.example  two.example:8080 three.example:443 '))).toEqual(expected);
    }
    expect(hostsOfRow(undefined, undefined)).toEqual([]);
  });

  test('names the same host once, a fallback when it is called nothing else', () => {
    expect(hostsOfRow('http://a/?fallback=1 http://a/?x=2', 'a')).toEqual([host('http://a')]);
    expect(hostsOfRow('http://a/?fallback=1', 'a')).toEqual([host('http://a', true)]);
  });

  test('is bounded', () => {
    expect(hostsOfRow('', Array.from({ length: 9000 }, (_, i) => `h${i}`).join(' '))).toHaveLength(5000);
  });

  test.each(['ftp://x/', 'http://', 'http://[bad/', 'x:99999', 'file:///etc/passwd', 'mirror?x', 'mirror:port'])(
    '%j is kept, to be named as what is no host',
    (text) => {
      const [good, bad] = hostsOfRow(undefined, `one.example ${text}`);
      expect(problemOf(good!)).toBeUndefined();
      expect(problemOf(bad!)).toBe(`${JSON.stringify(text)} is no host`);
    },
  );
});

describe('withBothSchemes', () => {
  test('a host without a port stands there under both, one with a port under its own', () => {
    const row = [
      host('http://a'),
      host('https://a', true),
      host('http://b', true),
      host('http://c:80'),
      host('x:99999'),
    ];
    expect(withBothSchemes(row)).toEqual([
      host('https://a'),
      host('http://a'),
      host('https://b', true),
      host('http://b', true),
      host('http://c:80'),
      host('x:99999'),
    ]);
  });
});

describe('hostsOf', () => {
  test('takes a name, which is asked under both schemes, a port, a URL', () => {
    expect(bases(hostsOf('mirror'))).toEqual(['https://mirror', 'http://mirror']);
    expect(bases(hostsOf('[::1]:8080'))).toEqual(['http://[::1]:8080']);
    expect(bases(hostsOf('mirror:8080'))).toEqual(['http://mirror:8080']);
    expect(bases(hostsOf('mirror:443'))).toEqual(['https://mirror:443']);
    expect(bases(hostsOf('https://mirror/sub/'))).toEqual(['https://mirror/sub']);
    expect(bases(hostsOf('http://mirror'))).toEqual(['http://mirror']);
  });

  test.each(['', 'not a host', 'http://', 'https:', 'ftp://mirror', 'mirror?x', 'http://[bad', 'mirror:port'])(
    '%j is no host',
    (text) => {
      expect(() => hostsOf(text)).toThrow(expect.objectContaining({ code: 'E_USAGE', hint: expect.any(String) }));
    },
  );
});
