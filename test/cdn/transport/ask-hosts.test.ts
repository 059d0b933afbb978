import { describe, expect, test } from '@jest/globals';
import { askHosts, isHostFault } from '../../../src/cdn/transport/ask-hosts.ts';
import { type Host, Hosts } from '../../../src/cdn/transport/hosts.ts';
import { type ErrorCode, type ErrorData, PakratError } from '../../../src/core/errors.ts';

const hostsNamed = (...names: string[]): Hosts => new Hosts(names.map((name) => ({ base: name, fallback: false })));
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
  const outcome = await askHosts(hosts, options, async ({ base }: Host) => {
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
    const script = { 'http://named': [refused], 'http://fallback': [error('E_NETWORK')] };
    const { thrown } = (await ask(hosts, script)) as { thrown: PakratError };
    expect(thrown.message).toBe('tpr/x: none of 2 hosts gave it: http://named: connect ECONNREFUSED');
    expect(thrown.data).toMatchObject({
      hosts: 2,
      failures: ['http://named: connect ECONNREFUSED', 'http://fallback: E_NETWORK it is'],
    });
    const alone = (await ask(hostsNamed('http://name:word@a'), { 'http://name:word@a': [refused] })) as {
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
    const { thrown } = (await ask(hostsNamed('a'), { a: [status(503, { retryAfter: 60_000 })] }, { signal })) as {
      thrown: PakratError;
    };
    expect(thrown).toMatchObject({ code: 'E_ABORTED' });
    expect(performance.now() - started).toBeLessThan(15_000);
    const { asked } = await ask(hostsNamed('a'), { a: ['yes'] }, { signal });
    expect(asked).toEqual([]);
  });
});
