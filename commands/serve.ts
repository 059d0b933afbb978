import { once } from 'node:events';
import * as Flags from '@oclif/core/flags';
import { StoreCommand } from '../src/cli/base-command.ts';
import { parseStoreSize } from '../src/cli/flags/parse-values.ts';
import { startServer } from '../src/serve/server.ts';

export default class Serve extends StoreCommand {
  static override summary = 'Serve the store as a CDN, with version services and a page to look at it.';
  static override description =
    'Serves the objects that the store holds under the paths of the CDN, tells clients which builds are live as the version services do, and has a page for people. It ends on Ctrl-C and SIGTERM.';
  static override flags = {
    host: Flags.string({
      summary: 'Address to listen on; 0.0.0.0 for all of this machine.',
      helpValue: 'HOST',
      default: '127.0.0.1',
    }),
    port: Flags.integer({
      summary: 'Port for HTTP; 0 for one that is free.',
      helpValue: 'PORT',
      default: 8080,
      min: 0,
      max: 65535,
    }),
    public: Flags.string({
      summary: 'Name under which clients reach the server; the address that it listens on without this.',
      helpValue: 'HOST[:PORT]',
    }),
    'pull-through': Flags.boolean({
      summary: 'Fetch what is missing from the CDN when a client asks for it: once, checked, and kept.',
    }),
    'max-size': Flags.string({
      summary:
        'With --pull-through: bytes that the store may take; what clients brought is forgotten, longest unasked first.',
      helpValue: 'SIZE',
    }),
  };
  static override examples = [
    '<%= config.bin %> serve',
    '<%= config.bin %> serve --host 0.0.0.0 --public lan-cache:8080',
    '<%= config.bin %> serve --pull-through',
    '<%= config.bin %> serve --pull-through --max-size 50G',
  ];

  async run(): Promise<void> {
    const { flags } = await this.parse(Serve);
    const { host, port } = flags;
    await this.withSession(flags, async (session) => {
      const server = await startServer(session, {
        ...this.work(),
        host,
        port,
        public: flags.public,
        pullThrough: flags['pull-through'],
        maxBytes: parseStoreSize(flags['max-size']),
      });
      try {
        if (this.jsonEnabled()) process.stdout.write(`${JSON.stringify({ event: 'listening', url: server.url })}\n`);
        else this.log(`Serving on ${server.url}`);
        if (!this.signal.aborted) await once(this.signal, 'abort');
      } finally {
        await server.close();
      }
    });
  }
}
