// A program that starts a server, and knows it by its door alone. See packed.test.ts.
import { type LogEntry, type ServeOptions, type Server, startServer } from 'pakrat/serve';

const [store = ''] = process.argv.slice(2);
const seen: LogEntry[] = [];
const options: ServeOptions = { port: 0, onRequest: (entry) => void seen.push(entry) };
const server: Server = await startServer({ store, offline: true, ...options });
const { status } = await fetch(`${server.url}/healthz`);
const versions = await (await fetch(`${server.url}/lantern/versions`)).text();
await server.close();
console.log(JSON.stringify({ status, isLive: /^us\|[0-9a-f]{32}/m.test(versions), seen: seen.length }));
