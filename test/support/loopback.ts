import { randomInt } from 'node:crypto';
import * as http from 'node:http';
import * as net from 'node:net';

/** A server of a test, on a free port of 127.0.0.1. */
export interface Loopback {
  port: number;
  /** `127.0.0.1:port`. */
  host: string;
  close(): Promise<void>;
}

/** An HTTP server with one handler. `close` also cuts what is still open. */
export function httpServer(handler: http.RequestListener): Promise<Loopback> {
  const server = http.createServer(handler);
  return listening(server, () => server.closeAllConnections());
}

/** A TCP server that is handed every connection. */
export function tcpServer(onConnection: (socket: net.Socket) => void): Promise<Loopback> {
  const sockets = new Set<net.Socket>();
  const server = net.createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
    onConnection(socket);
  });
  return listening(server, () => {
    for (const socket of sockets) socket.destroy();
  });
}

/** Ports that no system gives to connections, nor to who asks for any port: only tests take one of them between the look and its use. */
const [firstPort, lastPort] = [10_000, 30_000];

/** A port of 127.0.0.1 on which nobody listens, at least now. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(firstPort, lastPort);
    const server = net.createServer();
    const isFree = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false));
      server.listen(port, '127.0.0.1', () => resolve(true));
    });
    if (!isFree) continue;
    await new Promise((resolve) => server.close(resolve));
    return port;
  }
}

/** Lets a server listen on a free port. @param cut ends what is still open */
export function listening(server: net.Server, cut: () => void): Promise<Loopback> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as net.AddressInfo;
      const close = (): Promise<void> =>
        new Promise((closed) => {
          server.close(() => closed());
          cut();
        });
      resolve({ port, host: `127.0.0.1:${port}`, close });
    });
  });
}
