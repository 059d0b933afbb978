import { hasNginx, startNginx } from './nginx.ts';
import { serveTree } from './own-cdn.ts';
import type { ServedRequest } from './served-cdn.ts';

/** A good server over a tree: nginx, or the tree's own server where nginx is absent. */
export interface GoodServer {
  /** For --patch-url. */
  url: string;
  requests(): Promise<ServedRequest[]>;
  bytesSent(): Promise<number>;
  close(): Promise<void>;
}

/** Serves the www/ folder of a tree on a port of one's choice, which is the one that its `cdns` should name. */
export async function serveWell(root: string, port: number): Promise<GoodServer> {
  if (hasNginx) return startNginx({ folder: `${root}/www`, port });
  const { url, requests, bytesSent, close } = await serveTree(root, [], port);
  return { url, requests: async () => requests(), bytesSent: async () => bytesSent(), close };
}
