import { once } from 'node:events';
import type { AddressInfo, Server } from 'node:net';
import { hostAndPort } from '../../cdn/transport/host-text.ts';
import { codeOf, messageOf, PakratError } from '../../core/errors.ts';

/**
 * Listens, and gives back the port.
 * @param start what makes the server listen, where that is more than its own `listen`
 * @throws E_USAGE for an address that cannot be listened on, with what to do about it
 */
export async function listen(
  server: Server,
  { host, port }: { host: string; port: number },
  start: () => Promise<unknown> = () => once(server.listen({ host, port }), 'listening'),
): Promise<number> {
  try {
    await start();
  } catch (error) {
    const place = hostAndPort(host, port);
    const code = codeOf(error) ?? '';
    const problem = problems[code];
    throw new PakratError('E_USAGE', `cannot listen on ${place}: ${problem?.text ?? messageOf(error)}`, {
      hint: problem?.hint ?? 'Name another address with --host, or another port with --port.',
      data: { host, port, reason: code },
      cause: error,
    });
  }
  return (server.address() as AddressInfo).port;
}

const noAddress = {
  text: 'this machine has no such address',
  hint: '--host names an address of this machine: 127.0.0.1 for itself alone, 0.0.0.0 for all of them.',
};

const problems: Partial<Record<string, { text: string; hint: string }>> = {
  EADDRINUSE: {
    text: 'another program listens there',
    hint: 'Name a port that is free with --port (and --ribbit), or 0 for any.',
  },
  EACCES: { text: 'not allowed', hint: 'Ports below 1024 are for the administrator: name a higher one with --port.' },
  EADDRNOTAVAIL: noAddress,
  ENOTFOUND: noAddress,
  EAI_AGAIN: noAddress,
};

/** Stops to listen, and waits until the last connection is closed. */
export async function stopListening(server: Server): Promise<void> {
  if (!server.listening) return;
  await new Promise<void>((resolve) => {
    server.close(() => resolve());
  });
}
