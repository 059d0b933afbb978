import * as Flags from '@oclif/core/flags';
import { type PublishReport, publish } from '../src/app/publish.ts';
import { CliCommand } from '../src/cli/base-command.ts';
import { repeatable, requiredArg } from '../src/cli/flags/args.ts';
import { renderPublish } from '../src/cli/render/publish.ts';

export default class Publish extends CliCommand {
  static override summary = 'Make a build of a folder, for a web server to serve.';
  static override description =
    `Any reader of TACT can fetch it: pakrat sync PRODUCT --patch-url URL. Names travel with the build. A further build shares what did not change, has patches for what did, and becomes the live one when it is whole; the older builds stay.

The tag file has words, separated by commas, then a glob, on a line: tags (Windows, x86_64, enUS, category:NAME), install, priority:N, key:NAME. What has no tag is for everyone. The same folder and flags always give the same bytes.`;
  static override args = { folder: requiredArg('The folder whose files are published by their names in it.') };
  static override flags = {
    product: Flags.string({ summary: 'Product code, such as mygame.', helpValue: 'PRODUCT', required: true }),
    to: Flags.string({
      summary: 'Folder for the web server; made when it is not there.',
      helpValue: 'DIR',
      required: true,
    }),
    'build-name': Flags.string({
      summary: 'Name of the version. Default: 1.0.0.N, N being the build id.',
      helpValue: 'NAME',
    }),
    'build-id': Flags.integer({
      summary: 'Number of the build. Default: one more than that of the live build.',
      helpValue: 'N',
      min: 0,
      max: 0xffffffff,
    }),
    host: Flags.string({
      summary: 'Host that clients are to fetch from. Repeatable. Default: those of the live build, else localhost.',
      helpValue: 'HOST[:PORT]',
      ...repeatable,
    }),
    tags: Flags.string({ summary: 'File that says what files are for, or - for stdin.', helpValue: 'FILE' }),
    espec: Flags.string({
      summary: 'How files are encoded: z, n, z:9, b:{1M*=z}. Default: deflated where that makes a file smaller.',
      helpValue: 'SPEC',
    }),
    keys: Flags.string({
      summary: 'Key list. Its one key encrypts every file, unless the tag file says which key encrypts which.',
      helpValue: 'FILE',
    }),
    jobs: Flags.integer({ summary: 'Threads. Default: one for each core.', helpValue: 'N', min: 1, max: 64 }),
  };
  static override examples = [
    '<%= config.bin %> publish files --product mygame --to www --host cdn.example.org',
    '<%= config.bin %> publish files --product mygame --to www --build-name 1.4 --tags tags.txt',
    '<%= config.bin %> publish files --product mygame-locked --to www --keys my-keys.txt --espec z:9',
  ];

  async run(): Promise<PublishReport> {
    const { args, flags } = await this.parse(Publish);
    const { product, to, espec, keys, jobs, host } = flags;
    const tags = flags.tags === '-' ? process.stdin : flags.tags;
    const names = { product, to, buildName: flags['build-name'], buildId: flags['build-id'], hosts: host };
    const report = await this.withProgress(flags, (work) =>
      publish(args.folder, { ...names, tags, espec, keys, jobs, ...work }),
    );
    this.log(renderPublish(report));
    return report;
  }
}
