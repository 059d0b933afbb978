import { connect, type Socket } from 'node:net';
import { afterAll, expect, jest, test } from '@jest/globals';
import { Session } from '../../src/app/session/session.ts';
import { startPakrat } from '../support/run-pakrat.ts';
import { scratchFolder } from '../support/scratch.ts';

/* 10,000 connections that say nothing, held by this process against a server in another. */

jest.setTimeout(120_000);
const scratch = scratchFolder();
const sockets: Socket[] = [];
afterAll(() => {
  for (const socket of sockets) socket.destroy();
});

function hold(port: number): Promise<void> {
  const socket = connect({ host: '127.0.0.1', port });
  sockets.push(socket);
  socket.on('error', () => {});
  return new Promise((resolve) => void socket.once('connect', resolve).once('close', resolve));
}

test('others are served while 10,000 connections idle, and the server ends in time', async () => {
  const store = scratch('store');
  const session = new Session({ store, offline: true });
  await session.store({ create: true });
  await session.close();
  const { child, ended } = startPakrat(['serve', '--json', '--port', '0', '--store', store]);
  const line = await new Promise<string>(
    (resolve) => void child.stdout?.once('data', (piece) => resolve(String(piece))),
  );
  const { url } = JSON.parse(line) as { url: string };
  const port = Number(new URL(url).port);
  let slowest = 0;
  for (let round = 0; round < 20; round++) {
    await Promise.all(Array.from({ length: 500 }, () => hold(port)));
    const began = performance.now();
    expect((await fetch(`${url}/healthz`, { headers: { connection: 'close' } })).status).toBe(200);
    slowest = Math.max(slowest, performance.now() - began);
  }
  expect(sockets).toHaveLength(10_000);
  expect(slowest).toBeLessThan(2_000);
  child.kill('SIGTERM');
  expect((await ended).status).toBe(0);
});
