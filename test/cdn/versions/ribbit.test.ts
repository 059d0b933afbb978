import type { Socket } from 'node:net';
import { afterEach, describe, expect, test } from '@jest/globals';
import { queryRibbit, type RibbitQuestion } from '../../../src/cdn/versions/ribbit.ts';
import { encodeRibbit } from '../../../src/formats/services/ribbit-mime.ts';
import { freePort, type Loopback, tcpServer } from '../../support/loopback.ts';

const table = new TextEncoder().encode('Region!STRING:0|BuildId!DEC:4\n## seqn = 7\nus|60100\n');
const answer = encodeRibbit({ data: table, disposition: 'versions' });

let server: Loopback | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});

/** A service that answers every line; gives back the lines it got. */
async function serve(reply: (socket: Socket) => void): Promise<string[]> {
  const lines: string[] = [];
  server = await tcpServer((socket) => {
    socket.once('data', (data) => {
      lines.push(data.toString('latin1'));
      reply(socket);
    });
  });
  return lines;
}

function ask(options: Partial<RibbitQuestion> = {}): Promise<Uint8Array> {
  return queryRibbit({
    host: '127.0.0.1',
    port: server?.port ?? 1,
    product: 'wow',
    endpoint: 'versions',
    timeoutMs: 3000,
    ...options,
  });
}

describe('queryRibbit', () => {
  test('sends one v1 line and gives back the table', async () => {
    const lines = await serve((socket) => socket.end(answer));
    expect(new Uint8Array(await ask())).toEqual(table);
    expect(lines).toEqual(['v1/products/wow/versions\r\n']);
  });

  test('takes an answer that comes in pieces', async () => {
    await serve(async (socket) => {
      for (const byte of answer) {
        socket.write(Uint8Array.of(byte));
        if (byte === 0x0a) await new Promise((resolve) => setTimeout(resolve, 1));
      }
      socket.end();
    });
    expect(new Uint8Array(await ask())).toEqual(table);
  });

  test('an empty answer is a product that is not known', async () => {
    await serve((socket) => socket.end());
    await expect(ask()).rejects.toMatchObject({ code: 'E_NOT_FOUND' });
  });

  test('a changed byte is found by the checksum', async () => {
    const changed = answer.slice();
    const at = Buffer.from(changed).indexOf('60100');
    changed[at] = changed[at]! ^ 1;
    await serve((socket) => socket.end(changed));
    await expect(ask()).rejects.toMatchObject({ code: 'E_INTEGRITY' });
  });

  test('a port where nobody listens is told by its reason: whoever asks need not try again and again', async () => {
    const port = await freePort();
    await expect(ask({ port })).rejects.toMatchObject({ code: 'E_NETWORK', data: { reason: 'ECONNREFUSED' } });
  });

  test('an answer that is cut off is refused', async () => {
    await serve((socket) => socket.end(answer.subarray(0, answer.length - 30)));
    await expect(ask()).rejects.toMatchObject({ code: expect.stringMatching(/^E_FORMAT/) });
  });

  test('a service that never closes is given up in time', async () => {
    await serve((socket) => socket.write(answer));
    const started = performance.now();
    await expect(ask({ timeoutMs: 150 })).rejects.toMatchObject({ code: 'E_NETWORK_TIMEOUT' });
    expect(performance.now() - started).toBeLessThan(15_000);
  });

  test('an answer without end is given up at its limit, not held in memory', async () => {
    await serve((socket) => {
      const piece = new Uint8Array(1 << 20);
      const more = (): void => {
        if (!socket.destroyed) socket.write(piece, more);
      };
      more();
    });
    await expect(ask()).rejects.toMatchObject({ code: 'E_NETWORK', message: expect.stringContaining('4194304') });
  });

  test('nobody there, a connection that is reset, and an interruption each have their code', async () => {
    await expect(ask({ port: await freePort() })).rejects.toMatchObject({ code: 'E_NETWORK' });
    await serve((socket) => socket.resetAndDestroy());
    await expect(ask()).rejects.toMatchObject({ code: 'E_NETWORK' });
    await server?.close();
    await serve(() => {});
    await expect(ask({ signal: AbortSignal.timeout(50) })).rejects.toMatchObject({ code: 'E_ABORTED' });
    await expect(ask({ signal: AbortSignal.abort() })).rejects.toMatchObject({ code: 'E_ABORTED' });
  });

  test('a name that would be a second command is never sent', async () => {
    const lines = await serve((socket) => socket.end(answer));
    for (const product of ['wow\r\nv1/summary', 'a b', '', 'wow/../x']) {
      await expect(ask({ product })).rejects.toMatchObject({ code: 'E_USAGE' });
    }
    expect(lines).toEqual([]);
  });
});
