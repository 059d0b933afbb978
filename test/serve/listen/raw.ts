import { connect } from 'node:net';

/** Sends bytes as they are over a connection of its own and gives back all that comes until the other side closes, as Latin-1. */
export function sendRaw(port: number, text: string, { host = '127.0.0.1', withinMs = 5_000 } = {}): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port });
    let answer = '';
    const timer = setTimeout(() => {
      socket.destroy();
      reject(new Error(`the connection stayed open; so far: ${JSON.stringify(answer.slice(0, 200))}`));
    }, withinMs);
    socket.on('connect', () => socket.write(Buffer.from(text, 'latin1')));
    socket.on('data', (piece: Buffer) => {
      answer += piece.toString('latin1');
    });
    socket.on('error', () => {});
    socket.on('close', () => {
      clearTimeout(timer);
      resolve(answer);
    });
  });
}

/** An HTTP answer taken apart. */
export interface RawAnswer {
  status: number;
  line: string;
  headers: ReadonlyMap<string, string>;
  body: string;
}

/** Takes the one answer apart that stands in a text. */
export function parseAnswer(text: string): RawAnswer {
  const end = text.indexOf('\r\n\r\n');
  const [line = '', ...lines] = text.slice(0, end).split('\r\n');
  const headers = new Map(
    lines.map((one) => [one.split(':')[0]?.toLowerCase() ?? '', one.slice(one.indexOf(':') + 1).trim()]),
  );
  return { status: Number(line.split(' ')[1]), line, headers, body: text.slice(end + 4) };
}
