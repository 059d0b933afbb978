import { once } from 'node:events';
import * as Flags from '@oclif/core/flags';
import { PakratCommand } from '../src/cli/base-command.ts';
import { optionalArg, repeatable } from '../src/cli/flags/args.ts';
import { parseStoreSize } from '../src/cli/flags/parse-values.ts';
import { toJson } from '../src/cli/terminal/json.ts';
import { type LogFile, openLogFile } from '../src/serve/logs/log-file.ts';
import { type LogEntry, logFormats } from '../src/serve/logs/log-line.ts';
import { startServer } from '../src/serve/server.ts';

export default class Serve extends PakratCommand {
  static override summary = 'Serve the store as a CDN, with version services and a page to look at it.';
  static override description =
    'Serves the objects that the store holds under the paths of the CDN, tells clients which builds are live as the version services do, and has a page for people. It ends with 0 on Ctrl-C and SIGTERM; answers that have begun get a moment.';
  static override args = {
    source: optionalArg(
      'PAKs, installed games and folders that the page shows beside the builds of the store. Several may follow.',
    ),
  };
  static override strict = false;
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
    ribbit: Flags.integer({
      summary: 'Port for Ribbit, the version service over TCP: 1119 as a rule. It may be that of HTTP.',
      helpValue: 'PORT',
      min: 0,
      max: 65535,
    }),
    public: Flags.string({
      summary: 'Name under which clients reach the server; the address that it listens on without this.',
      helpValue: 'HOST[:PORT]',
    }),
    product: Flags.string({
      summary: 'The live build of a product; the newest that is held whole without this. Repeatable.',
      helpValue: 'PRODUCT=BUILD',
      ...repeatable,
    }),
    'access-log': Flags.string({
      summary: 'File to which a line is added for each request; - for standard output.',
      helpValue: 'FILE',
    }),
    'log-format': Flags.option({
      summary: 'Form of these lines: common, as Apache and nginx have it, or json.',
      options: ['common', 'json'] as const,
      default: 'common' as const,
    })(),
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
    '<%= config.bin %> serve --host 0.0.0.0 --public lan-cache:8080 --ribbit 1119',
    '<%= config.bin %> serve --product wow_classic_era=1.15.7.61582',
    '<%= config.bin %> serve --pull-through',
    '<%= config.bin %> serve --pull-through --max-size 50G',
    '<%= config.bin %> serve id1/pak0.pak "World of Warcraft"',
  ];

  async run(): Promise<void> {
    const { argv, flags } = await this.parse(Serve);
    const { host, port, ribbit, product: live } = flags;
    const options = {
      host,
      port,
      ribbit,
      live,
      public: flags.public,
      pullThrough: flags['pull-through'],
      maxBytes: parseStoreSize(flags['max-size']),
      sources: argv as string[],
    };
    await this.withSession(flags, async (session) => {
      const log = await this.#openLog(flags['access-log']);
      const line = logFormats[flags['log-format']];
      const onRequest = log && ((entry: LogEntry): void => log.write(line(entry)));
      const server = await startServer(session, { ...this.work(), ...options, onRequest });
      try {
        const { url, ribbitUrl, public: publicName } = server;
        const event = { event: 'listening', url, ribbitUrl, public: publicName };
        if (this.jsonEnabled()) process.stdout.write(`${toJson(event, 0)}\n`);
        else this.log(`Serving on ${[url, ...(ribbitUrl === undefined ? [] : [ribbitUrl])].join(' and ')}`);
        if (!this.signal.aborted) await once(this.signal, 'abort');
      } finally {
        await server.close();
        await log?.close();
      }
    });
  }

  async #openLog(file: string | undefined): Promise<LogFile | undefined> {
    return file === undefined ? undefined : openLogFile(file, (text) => this.note(text));
  }
}
