import type { IncomingMessage, ServerResponse } from 'node:http';
import { md5Hex } from '../../src/core/hash.ts';
import { httpServer, type Loopback } from './loopback.ts';

/** A service of channels for tests. Objects that tests change keep the name that they were made with. */
export interface ChannelService extends Loopback {
  /** For --patch-url. */
  url: string;
  /** Paths that were asked for. */
  asked: string[];
  /** The objects by their names. */
  objects: Map<string, Uint8Array>;
  /** The summary as it is sent. */
  summary: string;
  /** Makes an object and gives back its name. */
  put(value: unknown): string;
  /** Makes a catalogue the live one, and gives back its name. */
  publish(products: unknown[]): string;
}

/** Starts a service without a catalogue. */
export async function channelService(path = 'blue/'): Promise<ChannelService> {
  const objects = new Map<string, Uint8Array>();
  const asked: string[] = [];
  const answer = (request: IncomingMessage, response: ServerResponse): void => {
    const url = request.url ?? '';
    asked.push(url);
    const name = /^\/blue\/(..)\/(..)\/(\1\2.{28})$/.exec(url)?.[3];
    const body = url === '/summary' ? service.summary : objects.get(name ?? '');
    if (body === undefined) response.writeHead(404).end();
    else response.end(body);
  };
  const server = await httpServer(answer);
  const put = (value: unknown): string => {
    const bytes = new TextEncoder().encode(JSON.stringify(value));
    const name = md5Hex(bytes);
    objects.set(name, bytes);
    return name;
  };
  const service: ChannelService = {
    ...server,
    url: `channels+http://${server.host}`,
    asked,
    objects,
    summary: '{}',
    put,
    publish(products) {
      const catalogue = put({ name: 'public', products });
      service.summary = JSON.stringify({ public: { channel: catalogue }, path });
      return catalogue;
    },
  };
  return service;
}

/** A definition of a build, with more than any reader needs. */
export function definitionOf(buildId: number, more: object = {}): object {
  const hash = (letter: string): string => letter.repeat(32);
  return {
    buildKey: hash('a'),
    cdnKey: hash('b'),
    keyRing: '',
    armadilloKey: '',
    path: 'tpr/wow',
    productConfig: { hash: hash('c'), cdnPath: 'tpr/configs/data' },
    build: { name: `11.2.0.${buildId}`, token: 'x' },
    versionNumber: buildId,
    versionString: `11.2.0.${buildId}`,
    ...more,
  };
}
