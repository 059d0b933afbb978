import { describe, expect, test } from '@jest/globals';
import { type Host, Hosts } from '../../../src/cdn/hosts/hosts.ts';
import { PakratError } from '../../../src/core/errors.ts';
import { ranked } from './ranked.ts';

const host = (name: string, fallback = false): Host => ({ base: `http://${name}`, fallback });
const [a, b, c] = [host('a'), host('b'), host('c')];
const bases = (hosts: readonly Host[]): string[] => hosts.map(({ base }) => base.slice('http://'.length));
const broken = new PakratError('E_NETWORK', 'broken');
const ignored = new PakratError('E_NETWORK_RANGE', 'whole', { data: { ignoredRange: true } });
const busy = (retryAfter: number): PakratError => new PakratError('E_NETWORK_STATUS', '503', { data: { retryAfter } });

/** Failures at different moments: those of the same moment count as one. */
function fail(hosts: Hosts, which: Host, kind: 'config' | 'data', times: number): void {
  for (let i = 0; i < times; i++) hosts.failed(which, kind, busy(0));
}

describe('the order', () => {
  test('equals take turns, so that each is asked', () => {
    const hosts = new Hosts([a, b, c]);
    const first = new Set(Array.from({ length: 3 }, () => ranked(hosts, 'data')[0]!.base));
    expect(first.size).toBe(3);
  });

  test('of equals the one that owes the fewest answers is next, and never before a better one', () => {
    const hosts = new Hosts([a, b, c]);
    for (const owing of [a, a, c]) hosts.news.asking(owing);
    for (let i = 0; i < 3; i++) expect(bases(ranked(hosts, 'data'))).toEqual(['b', 'c', 'a']);
    fail(hosts, b, 'data', 1);
    for (let i = 0; i < 3; i++) expect(bases(ranked(hosts, 'data'))).toEqual(['c', 'a', 'b']);
    for (const owing of [a, a, c]) hosts.news.answered(owing);
    hosts.succeeded(b, 'data');
    expect(new Set(Array.from({ length: 3 }, () => ranked(hosts, 'data')[0])).size).toBe(3);
  });

  test('one that failed comes behind those that did not, one that is right again does not', () => {
    const hosts = new Hosts([a, b, c]);
    fail(hosts, a, 'data', 1);
    for (let i = 0; i < 3; i++) expect(ranked(hosts, 'data').at(-1)).toBe(a);
    hosts.succeeded(a, 'data');
    expect(Array.from({ length: 3 }, () => ranked(hosts, 'data').at(-1))).toContain(b);
  });

  test('a fallback is asked behind all others that work, and before what rests or is dead', () => {
    const spare = host('spare', true);
    const hosts = new Hosts([spare, a, b]);
    for (let i = 0; i < 3; i++) expect(ranked(hosts, 'data').at(-1)).toBe(spare);
    fail(hosts, a, 'data', 5);
    for (let i = 0; i < 3; i++) expect(bases(ranked(hosts, 'data'))).toEqual(['b', 'spare', 'a']);
  });

  test('one that gave no answer in time comes behind for every kind of object, and is dead when it did so again', () => {
    const hosts = new Hosts([a, b]);
    const silence = new PakratError('E_NETWORK_TIMEOUT', 'no answer in time');
    hosts.failed(a, 'config', silence);
    for (let i = 0; i < 2; i++) expect(ranked(hosts, 'data')[0]).toBe(b);
    expect(hosts.isDead(a, 'config')).toBe(false);
    hosts.failed(a, 'config', busy(0));
    hosts.failed(a, 'config', silence);
    expect(hosts.isDead(a, 'config')).toBe(true);
  });

  test('one that fell silent after right bytes is silent for that kind of object alone', () => {
    const hosts = new Hosts([a, b]);
    hosts.failed(a, 'data', new PakratError('E_NETWORK_TIMEOUT', 'no answer', { data: { progressed: true } }));
    expect(ranked(hosts, 'data')[0]).toBe(b);
    const first = new Set([ranked(hosts, 'index')[0], ranked(hosts, 'index')[0]]);
    expect(first.size).toBe(2);
  });

  test('HTTPS is asked first, or plain HTTP where that is preferred; fallbacks behind both, and mirrors of a person last', () => {
    const secure = { base: 'https://a', fallback: false };
    const spare = { base: 'https://spare', fallback: true };
    const mirror = { base: 'https://mirror', fallback: false, mirror: true };
    const hosts = [mirror, spare, a, secure];
    for (let i = 0; i < 4; i++) {
      expect(ranked(new Hosts(hosts), 'data')).toEqual([secure, a, spare, mirror]);
      expect(ranked(new Hosts(hosts, { prefer: 'http' }), 'data')).toEqual([a, secure, spare, mirror]);
    }
  });

  test('a scheme under which nobody is there is dead at once, where the host has another', () => {
    const secure = { base: 'https://a', fallback: false };
    const refused = new PakratError('E_NETWORK', 'refused', { data: { unreachable: true } });
    const hosts = new Hosts([secure, a]);
    hosts.failed(secure, 'config', refused);
    expect(hosts.isDead(secure, 'data')).toBe(true);
    expect(hosts.whyOut(secure, 'data')).toBe('refused');
    expect(ranked(hosts, 'data')[0]).toBe(a);
    const alone = new Hosts([secure]);
    alone.failed(secure, 'config', refused);
    expect(alone.isDead(secure, 'config')).toBe(false);
  });

  test('one that was tried already comes behind', () => {
    const hosts = new Hosts([a, b, c]);
    for (let i = 0; i < 3; i++) {
      expect(ranked(hosts, 'data', new Set([a.base])).at(-1)).toBe(a);
      expect(ranked(hosts, 'data', new Set([a.base, c.base]))[0]).toBe(b);
    }
  });

  test('one that ignores ranges comes behind those that do not', () => {
    const hosts = new Hosts([a, b]);
    hosts.failed(a, 'data', ignored);
    hosts.succeeded(a, 'data');
    for (let i = 0; i < 2; i++) expect(bases(ranked(hosts, 'data'))).toEqual(['b', 'a']);
  });

  test('no host is no error', () => {
    expect(ranked(new Hosts([]), 'data')).toEqual([]);
  });
});

describe('health', () => {
  test('is kept for each kind of object: a host without configs still serves data', () => {
    const hosts = new Hosts([a, b]);
    fail(hosts, a, 'config', 5);
    expect(hosts.isDead(a, 'config')).toBe(true);
    expect(hosts.isDead(a, 'data')).toBe(false);
    expect(hosts.waitMs(a, 'data')).toBe(0);
    expect(new Set([0, 1].map(() => ranked(hosts, 'data')[0]!.base)).size).toBe(2);
    expect(bases(ranked(hosts, 'config'))).toEqual(['b', 'a']);
  });

  test('a host is dead after five failures at first, and after twelve once it was right', () => {
    const hosts = new Hosts([a, b]);
    fail(hosts, a, 'data', 4);
    expect(hosts.isDead(a, 'data')).toBe(false);
    fail(hosts, a, 'data', 1);
    expect(hosts.isDead(a, 'data')).toBe(true);
    hosts.succeeded(a, 'data');
    fail(hosts, a, 'data', 11);
    expect(hosts.isDead(a, 'data')).toBe(false);
    fail(hosts, a, 'data', 1);
    expect(hosts.isDead(a, 'data')).toBe(true);
  });

  test('a first failure costs no rest, later ones rest longer, at most two seconds', () => {
    const hosts = new Hosts([a]);
    hosts.failed(a, 'data', broken);
    expect(hosts.waitMs(a, 'data')).toBe(0);
    hosts.failed(a, 'data', broken);
    expect(hosts.waitMs(a, 'data')).toBeGreaterThan(50);
    expect(hosts.waitMs(a, 'data')).toBeLessThanOrEqual(100);
    const proven = new Hosts([a]);
    proven.succeeded(a, 'data');
    for (let i = 0; i < 5; i++) {
      proven.failed(a, 'data', busy(0));
      proven.failed(a, 'data', broken);
    }
    expect(proven.waitMs(a, 'data')).toBeGreaterThan(1900);
    expect(proven.waitMs(a, 'data')).toBeLessThanOrEqual(2000);
  });

  test('a host that breaks off behind right bytes is alive: it comes behind the others, but need not rest', () => {
    const hosts = new Hosts([a, b]);
    const brokeOff = new PakratError('E_NETWORK', 'broke off', { data: { progressed: true } });
    for (let i = 0; i < 10; i++) hosts.failed(a, 'data', brokeOff);
    expect(hosts.waitMs(a, 'data')).toBe(0);
    expect(hosts.isDead(a, 'data')).toBe(false);
    for (let i = 0; i < 2; i++) expect(bases(ranked(hosts, 'data'))).toEqual(['b', 'a']);
  });

  test('several failures of the same moment are one', () => {
    const hosts = new Hosts([a]);
    for (let i = 0; i < 30; i++) hosts.failed(a, 'data', broken);
    expect(hosts.waitMs(a, 'data')).toBeLessThanOrEqual(100);
  });

  test('a host that asks to be left alone is left alone for so long, and comes behind', () => {
    const hosts = new Hosts([a, b]);
    hosts.failed(a, 'data', busy(30_000));
    expect(hosts.waitMs(a, 'data')).toBeGreaterThan(29_000);
    for (let i = 0; i < 2; i++) expect(bases(ranked(hosts, 'data'))).toEqual(['b', 'a']);
    // Rather a host that was just wrong, or a fallback, than half a minute of waiting.
    expect(ranked(hosts, 'data', new Set([b.base]))[0]).toBe(b);
  });

  test('one that is dead is passed over for a while, one that asks for an hour for that hour', () => {
    const hosts = new Hosts([a, b]);
    fail(hosts, a, 'data', 5);
    hosts.failed(a, 'data', broken, 'one');
    // It may be that object alone.
    expect(hosts.whyOut(a, 'data')).toBeUndefined();
    hosts.failed(a, 'data', busy(0), 'another');
    hosts.failed(a, 'data', broken, 'a third');
    expect(hosts.whyOut(a, 'data')).toBe('broken');
    expect(hosts.waitMs(a, 'data')).toBeGreaterThan(5000);
    hosts.failed(b, 'data', busy(3_600_000));
    expect(hosts.whyOut(b, 'data')).toBe('503');
  });

  test('an interruption is no one’s failure', () => {
    const hosts = new Hosts([a, b]);
    for (let i = 0; i < 5; i++) hosts.failed(a, 'data', new PakratError('E_ABORTED', 'interrupted'));
    expect(hosts.isDead(a, 'data')).toBe(false);
    expect(new Set([0, 1].map(() => ranked(hosts, 'data')[0]!.base)).size).toBe(2);
  });
});

describe('noneKnowsRanges', () => {
  test('is not said while a host is left that may know them', () => {
    const hosts = new Hosts([a, b]);
    expect(hosts.noneKnowsRanges('data')).toBe(false);
    hosts.failed(a, 'data', ignored);
    expect(hosts.noneKnowsRanges('data')).toBe(false);
    hosts.failed(b, 'data', ignored);
    expect(hosts.noneKnowsRanges('data')).toBe(true);
  });

  test('is said when the others are dead', () => {
    const hosts = new Hosts([a, b]);
    hosts.failed(a, 'data', ignored);
    fail(hosts, b, 'data', 5);
    expect(hosts.noneKnowsRanges('data')).toBe(true);
  });

  test('is taken back when one answers a range after all', () => {
    const hosts = new Hosts([a]);
    hosts.failed(a, 'data', ignored);
    hosts.servedRange(a);
    expect(hosts.noneKnowsRanges('data')).toBe(false);
  });

  test('dead hosts alone do not make it so', () => {
    const hosts = new Hosts([a]);
    fail(hosts, a, 'data', 5);
    expect(hosts.noneKnowsRanges('data')).toBe(false);
  });
});
