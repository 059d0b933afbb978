// Serves a made tree over HTTP and Ribbit, in a process of its own, as well or badly as its words say:
//
//   node server.js --root TREE --port N --ribbit N --log FILE [--fail SHARE] [--cut SHARE] [--flip SHARE] [--no-range] [--seed TEXT]
//
// Shares of answers: 503 in place of the file, cut half way, with the first byte changed. A line is logged for each answer before its body is sent.

import { createHash } from 'node:crypto';
import * as fs from 'node:fs';
import { createServer } from 'node:http';
import { createServer as createTcpServer } from 'node:net';
import { basename, join, resolve, sep } from 'node:path';
import { parseArgs } from 'node:util';

const { values } = parseArgs({
  options: {
    root: { type: 'string' },
    port: { type: 'string' },
    ribbit: { type: 'string' },
    log: { type: 'string' },
    fail: { type: 'string', default: '0' },
    cut: { type: 'string', default: '0' },
    flip: { type: 'string', default: '0' },
    'no-range': { type: 'boolean', default: false },
    seed: { type: 'string', default: '1' },
  },
});
const log = fs.openSync(values.log, 'a');
let rolls = 0;

/** A number from 0 to below 1: the same ones in the same order for a seed. */
function roll() {
  rolls += 1;
  return createHash('md5').update(`${values.seed}|${rolls}`).digest().readUInt32BE() / 2 ** 32;
}

/** The bytes of a file below a folder, undefined when there is none. */
function readBelow(folder, path) {
  const file = resolve(join(folder, path));
  if (!file.startsWith(resolve(folder) + sep)) return undefined;
  return fs.statSync(file, { throwIfNoEntry: false })?.isFile() ? fs.readFileSync(file) : undefined;
}

/** The part that is asked for: `undefined` for all, `null` for one that is not there. */
function rangeOf(header, size) {
  const match = values['no-range'] ? null : /^bytes=(\d*)-(\d*)$/.exec(header ?? '');
  if (match === null || match[0] === 'bytes=-') return undefined;
  const [first, last] = [match[1], match[2]];
  const start = first === '' ? Math.max(0, size - Number(last)) : Number(first);
  const end = first === '' || last === '' ? size : Math.min(size, Number(last) + 1);
  return start < end ? { start, end } : null;
}

const server = createServer((request, response) => {
  const { headers, method } = request;
  // A proxy is asked with a whole URL.
  const path = request.url.replace(/^http:\/\/[^/]*/, '');
  const [fails, cuts, flips] = [roll() < values.fail, roll() < values.cut, roll() < values.flip];
  const answer = (status, head, body) => {
    fs.writeSync(log, `${status} ${method} ${path} ${headers.range ?? '-'} ${body.length} host=${headers.host}\n`);
    response.writeHead(status, { 'content-length': body.length, ...head });
    if (method === 'HEAD') response.end();
    else if (status < 300 && cuts) response.write(body.subarray(0, body.length >> 1), () => response.destroy());
    else response.end(body);
  };
  const bytes = readBelow(join(values.root, 'www'), path.split('?')[0]);
  if (bytes === undefined) return answer(404, {}, Buffer.alloc(0));
  if (fails) return answer(503, {}, Buffer.alloc(0));
  const size = bytes.length;
  const range = rangeOf(headers.range, size);
  if (range === null) return answer(416, { 'content-range': `bytes */${size}` }, Buffer.alloc(0));
  const body = range === undefined ? bytes : bytes.subarray(range.start, range.end);
  if (flips && body.length > 0) body[0] ^= 1;
  const head = {
    'content-type': 'application/octet-stream',
    'accept-ranges': values['no-range'] ? 'none' : 'bytes',
    etag: `"${basename(path)}"`,
    ...(range && { 'content-range': `bytes ${range.start}-${range.end - 1}/${size}` }),
  };
  answer(range === undefined ? 200 : 206, head, body);
});

/** Ribbit: a line with the name of a table, and the table is the answer. */
const ribbit = createTcpServer((socket) => {
  let line = '';
  socket.setEncoding('latin1');
  socket.on('error', () => socket.destroy());
  socket.on('data', (text) => {
    line += text;
    if (!line.includes('\n') && line.length < 1000) return;
    socket.end(readBelow(join(values.root, 'ribbit'), line.split(/\r?\n/)[0]) ?? Buffer.alloc(0));
  });
});

server.keepAliveTimeout = 60_000;
server.listen(Number(values.port), '127.0.0.1');
ribbit.listen(Number(values.ribbit), '127.0.0.1');
