import { randomBytes } from 'node:crypto';
import { createServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { HttpClient, type HttpRequest } from '../../../src/cdn/transport/http.ts';
import type { HttpHead } from '../../../src/cdn/transport/http-head.ts';
import { PakratError } from '../../../src/core/errors.ts';
import { certifyByUnknown, hasOpenssl } from '../../support/certificate.ts';
import { freePort, httpServer, type Loopback, tcpServer } from '../../support/loopback.ts';
import { scratchFolder } from '../../support/scratch.ts';

const scratch = scratchFolder();
let http: HttpClient;
let server: Loopback | undefined;
beforeEach(() => {
  http = new HttpClient({ connectMs: 1000, idleMs: 400, connections: 2 });
});
afterEach(async () => {
  await http.close();
  await server?.close();
  server = undefined;
});

/** What came of a GET. */
interface Got {
  head?: HttpHead;
  body: string;
}

async function get(more: Partial<HttpRequest> & { path?: string } = {}): Promise<Got> {
  const got: Got = { body: '' };
  await http.get({
    url: `http://${server!.host}${more.path ?? '/x'}`,
    onHead: (head) => {
      got.head = head;
    },
    onData: (piece) => {
      got.body += piece.toString('latin1');
      return undefined;
    },
    ...more,
  });
  return got;
}

/** A server that answers every request with the same bytes, as they are. */
async function rawServer(answer: string, options: { end?: boolean } = {}): Promise<void> {
  server = await tcpServer((socket) => {
    socket.on('data', () => {
      socket.write(answer, 'latin1');
      if (options.end) socket.end();
    });
  });
}

describe('a request', () => {
  test('asks for the range, for no encoding, and says who asks', async () => {
    let seen: Record<string, unknown> = {};
    server = await httpServer((request, response) => {
      seen = { ...request.headers, url: request.url };
      response.end('body');
    });
    const got = await get({ path: '/a/b?c=d', range: { start: 100, end: 200 } });
    expect(got.body).toBe('body');
    expect(got.head).toMatchObject({ status: 200, headers: { 'content-length': '4' } });
    expect(seen).toMatchObject({
      url: '/a/b?c=d',
      range: 'bytes=100-199',
      'accept-encoding': 'identity',
      'user-agent': 'pakrat',
    });
    expect(Object.keys(seen)).not.toContain('cookie');
  });

  test('goes over kept connections', async () => {
    const sockets = new Set<unknown>();
    server = await httpServer((request, response) => {
      sockets.add(request.socket);
      response.end('x');
    });
    for (let i = 0; i < 10; i++) await get();
    expect(sockets.size).toBeLessThanOrEqual(2);
  });

  test('never takes more connections to a host than allowed', async () => {
    let open = 0;
    let most = 0;
    server = await httpServer((_, response) => {
      open += 1;
      most = Math.max(most, open);
      setTimeout(() => {
        open -= 1;
        response.end('x');
      }, 20);
    });
    await Promise.all(Array.from({ length: 10 }, () => get()));
    expect(most).toBe(2);
  });
});

describe('an answer', () => {
  test('is shown by its head before any of its body, and refused by an exception', async () => {
    server = await httpServer((_, response) => response.writeHead(503, { 'retry-after': '7' }).end('busy'));
    const refusal = new PakratError('E_NETWORK_STATUS', 'no');
    let pieces = 0;
    const got = get({
      onHead: (head) => {
        expect(head).toMatchObject({ status: 503, headers: { 'retry-after': '7' } });
        throw refusal;
      },
      onData: () => {
        pieces += 1;
        return undefined;
      },
    });
    await expect(got).rejects.toBe(refusal);
    expect(pieces).toBe(0);
  });

  test('is not followed elsewhere', async () => {
    let requests = 0;
    server = await httpServer((_, response) => {
      requests += 1;
      response.writeHead(302, { location: '/y' }).end();
    });
    expect((await get()).head?.status).toBe(302);
    expect(requests).toBe(1);
  });

  test('is not unpacked', async () => {
    server = await httpServer((_, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end('as it is'));
    expect((await get()).body).toBe('as it is');
  });

  test('is ended by an exception in the middle, and the client goes on', async () => {
    server = await httpServer((_, response) => {
      for (let i = 0; i < 64; i++) response.write(Buffer.alloc(64 * 1024));
      response.end();
    });
    const enough = new PakratError('E_NETWORK_RANGE', 'enough');
    let pieces = 0;
    const got = get({
      onData: () => {
        pieces += 1;
        throw enough;
      },
    });
    await expect(got).rejects.toBe(enough);
    expect(pieces).toBe(1);
    expect((await get()).body).toHaveLength(64 * 64 * 1024);
  });

  test('waits where its taker asks for it', async () => {
    server = await httpServer((_, response) => response.end(Buffer.alloc(1024 * 1024)));
    const started = performance.now();
    let waits = 0;
    await get({
      onData: () => {
        waits += 1;
        return waits <= 3 ? 60 : 0;
      },
    });
    expect(performance.now() - started).toBeGreaterThan(150);
  });

  test('comes whole beside another, in pieces that wait now and then', async () => {
    const bodies = [randomBytes(3_000_000), randomBytes(3_000_000)];
    server = await httpServer((request, response) => {
      const body = bodies[Number(request.url?.slice(1))]!;
      // Several chunks come with one read: the taker may ask to wait in the middle of it.
      for (let at = 0; at < body.length; at += 9_999) response.write(body.subarray(at, at + 9_999));
      response.end();
    });
    const come = bodies.map(() => [] as Buffer[]);
    const transfers = come.map((pieces, i) =>
      get({
        path: `/${i}`,
        onData: (piece) => {
          pieces.push(Buffer.from(piece));
          return pieces.length % 7 === 0 ? 5 : 0;
        },
      }),
    );
    await Promise.all(transfers);
    come.forEach((pieces, i) => {
      expect(Buffer.concat(pieces).equals(bodies[i]!)).toBe(true);
    });
  });

  test('that waits in the middle of what was read is not touched by what another brings', async () => {
    const bodyOf = (letters: string): string => letters.replace(/./g, (letter) => letter.repeat(1000));
    const letters = ['0123456789', 'abcdefghij'];
    server = await tcpServer((socket) => {
      socket.on('data', (request) => {
        const chunks = letters[Number(request.toString()[5])]!.replace(
          /./g,
          (letter) => `3e8\r\n${bodyOf(letter)}\r\n`,
        );
        socket.write(`HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${chunks}0\r\n\r\n`);
      });
    });
    let body = '';
    let other: Promise<Got> | undefined;
    await get({
      path: '/0',
      onData: (piece) => {
        body += piece.toString('latin1');
        if (other !== undefined) return 0;
        other = get({ path: '/1' });
        return 100;
      },
    });
    expect([body, (await other)?.body]).toEqual(letters.map(bodyOf));
  });

  test('that nobody asked for is not taken for the next one', async () => {
    const answer = (body: string): string => `HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    server = await tcpServer((socket) => {
      socket.on('data', () => {
        socket.write(answer('asked'));
        setTimeout(() => socket.write(answer('slipped in')), 20);
      });
    });
    expect((await get()).body).toBe('asked');
    await sleep(60);
    expect((await get()).body).toBe('asked');
  });

  test('has one value of a repeated header: the first', async () => {
    await rawServer('HTTP/1.1 200 OK\r\nContent-Length: 1\r\nX-A: one\r\nx-a: two\r\n\r\nx');
    expect((await get()).head?.headers['x-a']).toBe('one');
  });
});

describe('trouble', () => {
  test('nobody listens', async () => {
    const url = `http://127.0.0.1:${await freePort()}/secret`;
    await expect(http.get({ url, onHead: () => {}, onData: () => undefined })).rejects.toMatchObject({
      code: 'E_NETWORK',
      data: { reason: 'ECONNREFUSED' },
    });
  });

  test.each([
    ['closes without a word', ''],
    ['talks something else', 'SSH-2.0-OpenSSH_9.2\r\n'],
    ['ends its body early', 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort'],
    ['ends in the middle of its head', 'HTTP/1.1 200 OK\r\nContent-Le'],
    ['has two lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nshort!'],
    ['has a length below zero', 'HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\nshort'],
    [
      'has a length and chunks',
      'HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nshort\r\n0\r\n\r\n',
    ],
    ['has a bad chunk', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\nshort\r\n0\r\n\r\n'],
    ['ends before its last chunk', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nshort\r\n'],
    ['has a head without end', `HTTP/1.1 200 OK\r\n${'X-Long: '.padEnd(1000, 'x')}\r\n`.padEnd(64 * 1024, 'X: y\r\n')],
  ])('a host that %s', async (_, answer) => {
    await rawServer(answer, { end: true });
    await expect(get()).rejects.toMatchObject({ code: 'E_NETWORK' });
  });

  test.each([
    ['its head', ''],
    ['the rest of its head', 'HTTP/1.1 200 OK\r\n'],
    ['its body', 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n'],
    ['the rest of its body', 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort'],
  ])('a host that never sends %s is given up', async (_, answer) => {
    await rawServer(answer);
    const started = performance.now();
    await expect(get()).rejects.toMatchObject({ code: 'E_NETWORK_TIMEOUT' });
    expect(performance.now() - started).toBeLessThan(15_000);
  });
});

describe('a host that crawls', () => {
  /** Sends `start`, then `piece` again and again. */
  async function drip(start: string, piece: string, everyMs: number): Promise<void> {
    server = await tcpServer((socket) => {
      socket.once('data', () => {
        socket.write(start);
        const timer = setInterval(() => socket.write(piece), everyMs);
        socket.on('close', () => clearInterval(timer));
      });
    });
  }

  test.each([
    ['in its head', 'HTTP/1.1 200 OK\r\nX-Long: ', 'x', /no answer in time/],
    ['in heads that promise another', '', 'HTTP/1.1 102 Processing\r\n\r\n', /no answer in time/],
    ['in its body', 'HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n', 'x', /only \d+ bytes a second/],
  ])('%s is given up, though it is never silent', async (_, start, piece, message) => {
    await drip(start, piece, 50);
    const impatient = new HttpClient({ connectMs: 1000, idleMs: 400, connections: 1, slowWindowMs: 300 });
    const asked = impatient.get({ url: `http://${server!.host}/`, onHead: () => {}, onData: () => undefined });
    await expect(asked).rejects.toMatchObject({ code: 'E_NETWORK_TIMEOUT', message: expect.stringMatching(message) });
    await impatient.close();
  });

  test('far behind others is given up where those can be asked, and waited for where they cannot', async () => {
    server = await httpServer(({ url }, response) => {
      if (url === '/fast') return void response.end(Buffer.alloc(200_000));
      let sent = 0;
      const timer = setInterval(() => {
        sent += 1;
        if (sent < 10) response.write(Buffer.alloc(500));
        else response.end();
      }, 100);
      response.on('close', () => clearInterval(timer));
    });
    const impatient = new HttpClient({ connectMs: 1000, idleMs: 5000, connections: 1, slowWindowMs: 600 });
    const ask = (path: string, hasAlternatives: boolean): Promise<void> => {
      const url = `http://${server!.host}${path}`;
      return impatient.get({ url, hasAlternatives, onHead: () => {}, onData: () => undefined });
    };
    await ask('/slow', true);
    await ask('/fast', true);
    await ask('/slow', false);
    await expect(ask('/slow', true)).rejects.toMatchObject({ code: 'E_NETWORK_TIMEOUT' });
    await impatient.close();
  });

  test('because its taker does is waited for', async () => {
    await rawServer(`HTTP/1.1 200 OK\r\nContent-Length: 200000\r\n\r\n${'x'.repeat(200_000)}`);
    const impatient = new HttpClient({
      connectMs: 1000,
      idleMs: 400,
      connections: 1,
      slowWindowMs: 150,
      slowestBytesPerSecond: 2_000_000,
    });
    let size = 0;
    const onData = (piece: Buffer): number => {
      size += piece.length;
      return 200;
    };
    await impatient.get({ url: `http://${server!.host}/`, onHead: () => {}, onData });
    expect(size).toBe(200_000);
    await impatient.close();
  });
});

describe('no secure connection', () => {
  const refusal = {
    code: 'E_NETWORK',
    data: { unreachable: true },
    message: expect.stringMatching(/no secure connection/),
  };
  const ask = (): Promise<void> =>
    http.get({ url: `https://${server!.host}/`, onHead: () => {}, onData: () => undefined });

  (hasOpenssl ? test : test.skip)('a certificate by an authority that nobody knows, without its chain', async () => {
    const tls = createServer(certifyByUnknown(scratch('certificate')), (_, response) => response.end('body'));
    await new Promise<void>((resolve) => tls.listen(0, '127.0.0.1', resolve));
    const { port } = tls.address() as AddressInfo;
    server = { port, host: `127.0.0.1:${port}`, close: async () => void tls.close() };
    await expect(ask()).rejects.toMatchObject(refusal);
  });

  test.each([
    ['plain HTTP', (socket: Socket) => void socket.on('data', () => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'))],
    ['a host that hangs up', (socket: Socket) => void socket.on('data', () => socket.destroy())],
  ])('%s on the port', async (_, onConnection) => {
    server = await tcpServer(onConnection);
    await expect(ask()).rejects.toMatchObject(refusal);
  });

  test('silence on the port is told as that', async () => {
    server = await tcpServer(() => {});
    await expect(ask()).rejects.toMatchObject({ ...refusal, code: 'E_NETWORK_TIMEOUT' });
  });
});

describe('an interruption', () => {
  const aborted = expect.objectContaining({ code: 'E_ABORTED' });

  test('before it began asks nobody', async () => {
    let requests = 0;
    server = await httpServer((_, response) => {
      requests += 1;
      response.end();
    });
    await expect(get({ signal: AbortSignal.abort() })).rejects.toEqual(aborted);
    expect(requests).toBe(0);
  });

  test.each([
    ['the head is waited for', 0, undefined],
    ['the body comes', 10, undefined],
    ['the taker rests', 10, 60_000],
  ])('while %s ends it at once', async (_, every, wait) => {
    server = await httpServer((_request, response) => {
      if (every === 0) return;
      const timer = setInterval(() => response.write('x'), every);
      response.on('close', () => clearInterval(timer));
    });
    const started = performance.now();
    await expect(get({ signal: AbortSignal.timeout(150), onData: () => wait })).rejects.toEqual(aborted);
    expect(performance.now() - started).toBeLessThan(15_000);
  });

  test('while a connection is waited for ends it at once', async () => {
    http = new HttpClient({ connectMs: 1000, idleMs: 5000, connections: 1 });
    server = await httpServer(() => {});
    const first = get({ signal: AbortSignal.timeout(600) }).catch(() => 'ended');
    const started = performance.now();
    await expect(get({ signal: AbortSignal.timeout(100) })).rejects.toEqual(aborted);
    expect(performance.now() - started).toBeLessThan(15_000);
    expect(await first).toBe('ended');
  });
});
