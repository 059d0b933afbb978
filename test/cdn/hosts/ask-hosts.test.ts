import { getMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import { askHosts, isHostFault } from '../../../src/cdn/hosts/ask-hosts.ts';
import { type Host, Hosts } from '../../../src/cdn/hosts/hosts.ts';
import { type ErrorCode, type ErrorData, PakratError, resultUnless } from '../../../src/core/errors.ts';

const hostsNamed = (...names: string[]): Hosts =>
  new Hosts(names.map((name) => ({ base: `http://${name}`, fallback: false })));
const error = (code: ErrorCode, data: ErrorData = {}): PakratError => new PakratError(code, `${code} it is`, { data });
const status = (number: number, more: ErrorData = {}): PakratError =>
  error('E_NETWORK_STATUS', { status: number, ...more });

/** Asks with a script: what each host answers, time after time; the last answer stays. */
async function ask(
  hosts: Hosts,
  script: Record<string, (PakratError | string)[]>,
  more: { attemptsPerHost?: number; signal?: AbortSignal } = {},
) {
  const asked: string[] = [];
  const times = new Map<string, number>();
  const options = { kind: 'data' as const, what: 'tpr/x', attemptsPerHost: 3, ...more };
  const outcome = await askHosts(hosts, options, async (host: Host) => {
    const base = host.base.replace('http://', '');
    asked.push(base);
    const time = times.get(base) ?? 0;
    times.set(base, time + 1);
    const answers = script[base]!;
    const answer = answers[Math.min(time, answers.length - 1)]!;
    if (typeof answer !== 'string') throw answer;
    return answer;
  }).then(
    (value) => ({ value }),
    (thrown: unknown) => ({ thrown: thrown as PakratError }),
  );
  return { asked, ...outcome };
}

describe('a right answer', () => {
  test('ends it', async () => {
    const { asked, ...outcome } = await ask(hostsNamed('a', 'b'), { a: ['yes'], b: ['yes'] });
    expect(outcome).toEqual({ value: 'yes' });
    expect(asked).toHaveLength(1);
  });

  test.each([
    error('E_NETWORK'),
    error('E_NETWORK_TIMEOUT'),
    error('E_NETWORK_RANGE'),
    error('E_INTEGRITY'),
    error('E_FORMAT_MAGIC'),
    status(404),
    status(500),
  ])('is asked of the next host after %s', async (wrong) => {
    const { asked, ...outcome } = await ask(hostsNamed('a', 'b', 'c'), { a: [wrong], b: [wrong], c: ['yes'] });
    expect(outcome).toEqual({ value: 'yes' });
    expect(new Set(asked).size).toBe(asked.length);
  });

  test('comes at last from a host that was wrong at first, when no other is left', async () => {
    const { asked, ...outcome } = await ask(hostsNamed('a'), { a: [error('E_INTEGRITY'), error('E_NETWORK'), 'yes'] });
    expect(outcome).toEqual({ value: 'yes' });
    expect(asked).toHaveLength(3);
  });
});

describe('no right answer', () => {
  test('every host that fails is asked so often and no more', async () => {
    const wrong = error('E_INTEGRITY');
    const { asked, ...outcome } = await ask(hostsNamed('a', 'b'), { a: [wrong], b: [wrong] }, { attemptsPerHost: 2 });
    expect(outcome).toMatchObject({ thrown: { code: 'E_NETWORK_EXHAUSTED', data: { object: 'tpr/x', attempts: 4 } } });
    expect(asked.toSorted()).toEqual(['a', 'a', 'b', 'b']);
  });

  test('what the host said that was asked first is shown, not what a fallback said last; and how many were asked', async () => {
    const hosts = new Hosts([
      { base: 'http://fallback', fallback: true },
      { base: 'http://named', fallback: false },
    ]);
    const refused = new PakratError('E_NETWORK', 'http://named/tpr/x: connect ECONNREFUSED');
    const script = { named: [refused], fallback: [error('E_NETWORK')] };
    const { thrown } = (await ask(hosts, script)) as { thrown: PakratError };
    expect(thrown.message).toBe('tpr/x: none of 2 hosts gave it: http://named: connect ECONNREFUSED');
    expect(thrown.data).toMatchObject({
      hosts: 2,
      failures: ['http://named: connect ECONNREFUSED', 'http://fallback: E_NETWORK it is'],
    });
    const alone = (await ask(hostsNamed('name:word@a'), { 'name:word@a': [refused] })) as {
      thrown: PakratError;
    };
    expect(alone.thrown.message).toMatch(/^tpr\/x: the only host failed: http:\/\/a: /);
  });

  test('a host that has not got it is asked once; when none has it, it is not found', async () => {
    const script = { a: [status(404)], b: [status(403)], c: [status(410)] };
    const { asked, ...outcome } = await ask(hostsNamed('a', 'b', 'c'), script, { attemptsPerHost: 5 });
    expect(outcome).toMatchObject({ thrown: { code: 'E_NOT_FOUND' } });
    expect(asked.toSorted()).toEqual(['a', 'b', 'c']);
  });

  test('one that is absent here and broken there is not called not found', async () => {
    const script = { a: [status(404)], b: [status(500)] };
    const { asked, ...outcome } = await ask(hostsNamed('a', 'b'), script, { attemptsPerHost: 2 });
    expect(outcome).toMatchObject({ thrown: { code: 'E_NETWORK_EXHAUSTED' } });
    expect(asked.toSorted()).toEqual(['a', 'b', 'b']);
  });

  test('a host that ignored the range is not asked for it again', async () => {
    const wrong = error('E_NETWORK_RANGE', { ignoredRange: true });
    const { asked } = await ask(hostsNamed('a'), { a: [wrong] }, { attemptsPerHost: 5 });
    expect(asked).toHaveLength(1);
  });

  test('a host that is dead to this kind of object is asked once more, not five times', async () => {
    const hosts = hostsNamed('a');
    for (let i = 0; i < 5; i++) hosts.failed(hosts.all[0]!, 'data', error('E_NETWORK', { retryAfter: 0 }));
    const { asked } = await ask(hosts, { a: [error('E_NETWORK')] }, { attemptsPerHost: 5 });
    expect(asked).toHaveLength(1);
  });

  test('no host at all is said so', async () => {
    const { thrown } = (await ask(hostsNamed(), {})) as { thrown: PakratError };
    expect(thrown).toMatchObject({ code: 'E_NETWORK_EXHAUSTED', hint: expect.stringContaining('--cdn-host') });
  });
});

describe('trouble that is no host’s', () => {
  test.each([error('E_STORE_FULL'), error('E_ABORTED'), error('E_NETWORK_EXHAUSTED'), error('E_NOT_FOUND')])(
    '%s ends it at once',
    async (trouble) => {
      const { asked, ...outcome } = await ask(hostsNamed('a', 'b'), { a: [trouble], b: [trouble] });
      expect(outcome).toEqual({ thrown: trouble });
      expect(asked).toHaveLength(1);
    },
  );

  test('isHostFault tells them apart', () => {
    for (const code of ['E_NETWORK', 'E_NETWORK_STATUS', 'E_FORMAT_CHECKSUM', 'E_INTEGRITY'] as const) {
      expect(isHostFault(error(code))).toBe(true);
    }
    for (const other of [new Error('bug'), new TypeError('bug'), undefined, error('E_STORE'), error('E_KEY_MISSING')]) {
      expect(isHostFault(other)).toBe(false);
    }
  });
});

test('progress is no try lost: a transfer that breaks again and again still comes to its end', async () => {
  const broke = error('E_NETWORK', { progressed: true });
  const { asked, ...outcome } = await ask(
    hostsNamed('a'),
    { a: [broke, broke, broke, broke, 'yes'] },
    { attemptsPerHost: 1 },
  );
  expect(outcome).toEqual({ value: 'yes' });
  expect(asked).toHaveLength(5);
});

describe('what is known of a host', () => {
  test('what it has not got is not asked of it again, now or later', async () => {
    const hosts = hostsNamed('a', 'b');
    const script = { a: [status(404)], b: [status(404)] };
    expect((await ask(hosts, script)).asked.toSorted()).toEqual(['a', 'b']);
    const { asked, ...outcome } = await ask(hosts, script);
    expect(outcome).toMatchObject({ thrown: { code: 'E_NOT_FOUND' } });
    expect(asked).toEqual([]);
  });

  test('the word of a host over HTTPS holds over plain HTTP, and not the other way round', async () => {
    const both = () => new Hosts(['https://a', 'http://a'].map((base) => ({ base, fallback: false })));
    const seen: string[] = [];
    const absent = async ({ base }: Host): Promise<never> => {
      seen.push(base);
      throw status(404);
    };
    const options = { kind: 'data' as const, what: 'tpr/x', attemptsPerHost: 3 };
    await expect(askHosts(both(), options, absent)).rejects.toMatchObject({ code: 'E_NOT_FOUND' });
    expect(seen).toEqual(['https://a']);
    seen.length = 0;
    const plainFirst = new Hosts(both().all, { prefer: 'http' });
    await expect(askHosts(plainFirst, options, absent)).rejects.toMatchObject({ code: 'E_NOT_FOUND' });
    expect(seen).toEqual(['http://a', 'https://a']);
  });

  test('one that is dead is not asked for a while: the error comes at once and says why', async () => {
    const hosts = hostsNamed('a');
    await ask(hosts, { a: [error('E_NETWORK', { unreachable: true })] }, { attemptsPerHost: 5 });
    const { asked, thrown } = (await ask(hosts, { a: ['yes'] })) as { asked: string[]; thrown: PakratError };
    expect(asked).toEqual([]);
    expect(thrown).toMatchObject({ code: 'E_NETWORK_EXHAUSTED', data: { failures: ['http://a: E_NETWORK it is'] } });
  });

  test('one that wants to be left alone for an hour is passed over, and said so', async () => {
    const started = performance.now();
    const busy = error('E_NETWORK_STATUS', { status: 503, retryAfter: 3_600_000 });
    const { asked, thrown } = (await ask(hostsNamed('a'), { a: [busy] })) as { asked: string[]; thrown: PakratError };
    expect([asked.length, thrown.code]).toEqual([1, 'E_NETWORK_EXHAUSTED']);
    expect(performance.now() - started).toBeLessThan(15_000);
  });

  test('what is no host is never asked, and named', async () => {
    const hosts = new Hosts([{ base: 'x:99999', fallback: false }]);
    const { asked, thrown } = (await ask(hosts, {})) as { asked: string[]; thrown: PakratError };
    expect(asked).toEqual([]);
    expect(thrown.message).toContain('"x:99999" is no host');
  });

  test('of very many dead ones a question wakes a few', async () => {
    const names = Array.from({ length: 300 }, (_, i) => `h${i}`);
    const hosts = hostsNamed(...names);
    for (const host of hosts.all) {
      for (let i = 0; i < 5; i++) hosts.failed(host, 'data', error('E_NETWORK', { retryAfter: 0 }));
    }
    const { asked } = await ask(hosts, Object.fromEntries(names.map((name) => [name, [error('E_NETWORK')]])));
    expect(asked).toHaveLength(4);
  });
});

describe('a slow host', () => {
  /** Host `slow` answers when it is told to end, `fast` at once. */
  async function raced(hosts: Hosts, isMoving: () => boolean): Promise<{ seen: string[]; answer: string }> {
    const seen: string[] = [];
    const options = { kind: 'config' as const, what: 'tpr/x', attemptsPerHost: 2, hedge: { afterMs: 20, isMoving } };
    const answer = await askHosts(hosts, options, async ({ base }, signal) => {
      seen.push(base);
      if (base === 'http://fast') return base;
      await new Promise((resolve) => {
        signal!.addEventListener('abort', resolve);
        setTimeout(resolve, 300);
      });
      if (signal!.aborted) throw error('E_ABORTED');
      return base;
    });
    return { seen, answer };
  }
  const hosts = (): Hosts =>
    new Hosts([
      { base: 'http://slow', fallback: false },
      { base: 'http://fast', fallback: true },
    ]);

  test('is overtaken by another that is asked meanwhile, and comes behind it then', async () => {
    const both = hosts();
    expect(await raced(both, () => false)).toEqual({ seen: ['http://slow', 'http://fast'], answer: 'http://fast' });
    expect(both.isDead(both.all[0]!, 'config')).toBe(false);
  });

  test('is waited for while its bytes come at a good pace, or nobody else is there', async () => {
    expect(await raced(hosts(), () => true)).toEqual({ seen: ['http://slow'], answer: 'http://slow' });
    const alone = new Hosts([{ base: 'http://slow', fallback: false }]);
    expect(await raced(alone, () => false)).toEqual({ seen: ['http://slow'], answer: 'http://slow' });
  });
});

test('many hosts that are asked at a time for one thing may all listen for its end, without a warning', async () => {
  const hosts = hostsNamed(...Array.from({ length: 200 }, (_, i) => `h${i}`));
  let atOnce = 0;
  let most = 0;
  let warnsFrom = 0;
  const hedge = { afterMs: 20, isMoving: () => false };
  const options = { kind: 'config' as const, what: 'x', attemptsPerHost: 1, hedge };
  const asking = askHosts(hosts, options, async (_host, signal) => {
    atOnce += 1;
    most = Math.max(most, atOnce);
    // Where there is no limit, Node 20 does not tell: it throws. Newer ones say 0.
    const limit = resultUnless(
      () => true,
      () => getMaxListeners(signal as AbortSignal),
    );
    warnsFrom = limit || Number.POSITIVE_INFINITY;
    await sleep(5);
    atOnce -= 1;
    throw error('E_NETWORK_STATUS', { status: 404 });
  });
  await expect(asking).rejects.toMatchObject({ code: 'E_NOT_FOUND' });
  expect(most).toBeGreaterThan(10);
  expect(warnsFrom).toBeGreaterThan(most);
});

test('a slow host does not gather the questions: those that are open at a time are spread evenly', async () => {
  const hosts = hostsNamed('slow', 'fast');
  const open = new Map<string, number>();
  let mostAtSlow = 0;
  const answer = async ({ base }: Host): Promise<void> => {
    open.set(base, (open.get(base) ?? 0) + 1);
    mostAtSlow = Math.max(mostAtSlow, open.get('http://slow') ?? 0);
    await sleep(base === 'http://slow' ? 40 : 1);
    open.set(base, open.get(base)! - 1);
  };
  const inTurn = async (): Promise<void> => {
    for (let i = 0; i < 10; i++) await askHosts(hosts, { kind: 'data', what: `tpr/${i}`, attemptsPerHost: 3 }, answer);
  };
  await Promise.all(Array.from({ length: 8 }, inTurn));
  expect(mostAtSlow).toBeLessThanOrEqual(5);
});

describe('waiting', () => {
  test('Retry-After is waited for when no other host is left', async () => {
    const started = performance.now();
    const { asked, ...outcome } = await ask(hostsNamed('a'), { a: [status(503, { retryAfter: 300 }), 'yes'] });
    expect(outcome).toEqual({ value: 'yes' });
    expect(asked).toHaveLength(2);
    expect(performance.now() - started).toBeGreaterThan(290);
  });

  test('another host is asked in the meantime', async () => {
    const busy = status(503, { retryAfter: 60_000 });
    const hosts = hostsNamed('a', 'b');
    hosts.failed(hosts.all[0]!, 'data', busy);
    const started = performance.now();
    const { asked } = await ask(hosts, { a: [busy], b: [error('E_NETWORK'), 'yes'] });
    expect(asked).toEqual(['b', 'b']);
    expect(performance.now() - started).toBeLessThan(15_000);
  });

  test('an interruption ends it, also while it waits', async () => {
    const signal = AbortSignal.timeout(100);
    const started = performance.now();
    const { thrown } = (await ask(hostsNamed('a'), { a: [status(503, { retryAfter: 20_000 })] }, { signal })) as {
      thrown: PakratError;
    };
    expect(thrown).toMatchObject({ code: 'E_ABORTED' });
    expect(performance.now() - started).toBeLessThan(15_000);
    const { asked } = await ask(hostsNamed('a'), { a: ['yes'] }, { signal });
    expect(asked).toEqual([]);
  });
});
