import * as Args from '@oclif/core/args';
import { PakratCommand } from '../src/cli/base-command.ts';

export default class Cat extends PakratCommand {
  static override enableJsonFlag = false;
  static override summary = 'Write one file of a source to stdout.';
  static override description =
    'What the store does not hold is fetched first, only the range of this file, and is then held.';
  static override args = {
    source: Args.string({ description: 'PRODUCT, PRODUCT@BUILD or a path.', required: true, ignoreStdin: true }),
    name: Args.string({ description: 'A name, fdid:N, ckey:HEX or ekey:HEX.', required: true, ignoreStdin: true }),
  };
  static override examples = [
    '<%= config.bin %> cat wow_classic_era interface/icons/inv_misc_bag_08.blp > bag.blp',
    '<%= config.bin %> cat wow_classic_era fdid:1349477 | xxd | head',
    '<%= config.bin %> cat wow_classic_era@1.15.7.61582 ckey:0bf3e9f23de17cf6a1d3ba8dbc5f6ac0 --offline',
  ];

  async run(): Promise<void> {
    const { args, flags } = await this.parse(Cat);
    const options = this.globals(flags);
    const { withSource } = await import('../src/cli/sources.ts');
    const { default: events } = await import('node:events');
    const hooks = { note: (text: string) => this.note(text), signal: this.signal };
    await withSource(options, args.source, { hooks }, async (source) => {
      const entry = await source.get(args.name);
      for await (const piece of source.read(entry)) {
        this.signal.throwIfAborted();
        if (!process.stdout.write(piece)) await events.once(process.stdout, 'drain');
      }
    });
  }
}
