#!/usr/bin/env node
// A hook of `pakrat watch`: tells of builds that came and went, and of trouble. The event is JSON on stdin. Where ANNOUNCE_URL is set, the
// text goes there as {"text": …}; else it is printed, and pakrat passes it on to its own stderr.
import { json } from 'node:stream/consumers';

const texts = {
  synced: ({ product, build, fetched }) => `${product} ${build.name} is held; ${fetched.bytes} bytes fetched`,
  forgot: ({ builds, diskBytes }) => `${builds.length} builds forgotten; ${diskBytes} bytes given back`,
  trouble: ({ product, code, message }) => `${product ?? 'The store'}: ${message} (${code})`,
  recovered: ({ product }) => `${product ?? 'The store'}: the trouble is over`,
};

const event = await json(process.stdin);
const text = texts[event.event]?.(event);
const url = process.env.ANNOUNCE_URL;
if (text !== undefined && url === undefined) console.log(text);
if (text !== undefined && url !== undefined) {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ text }),
    signal: AbortSignal.timeout(30_000),
  });
  if (!answer.ok) throw new Error(`${new URL(url).host} answered ${answer.status}`);
}
