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

/** A port of 127.0.0.1 on which nobody listens, at least now. */
export async function freePort(): Promise<number> {
  const server = await tcpServer(() => {});
  await server.close();
  return server.port;
}

function listening(server: net.Server, cut: () => void): Promise<Loopback> {
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
