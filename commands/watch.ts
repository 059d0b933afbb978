import * as Flags from '@oclif/core/flags';
import { watch } from '../src/app/watch.ts';
import { PakratCommand } from '../src/cli/base-command.ts';
import { repeatable, requiredArg } from '../src/cli/flags/args.ts';
import { parseAge, parseRate, parseTags } from '../src/cli/flags/parse-values.ts';
import { runHook } from '../src/cli/hook.ts';
import { renderEvent } from '../src/cli/render/watch.ts';
import { toJson } from '../src/cli/terminal/json.ts';

export default class Watch extends PakratCommand {
  static override summary = 'Keep up with products: sync what is new, forget what may go.';
  static override description =
    `Asks the version service now and then which build of each product is live, and syncs one that the store does not hold whole. With --keep the older builds of these products are forgotten then, as \`pakrat gc --keep\` does. Each event is a line (with --json a line of JSON). Trouble is told once, and tried again at the next look: a network may be away for days.

The hook is run through the shell for each event, with the event as JSON on its standard input. On SIGTERM watch ends with exit code 0, so that a service manager can stop it.`;
  static override strict = false;
  static override args = { product: requiredArg('Products. Several may be given.') };
  static override flags = {
    every: Flags.string({ summary: 'Time from one look to the next.', helpValue: 'TIME', default: '10m' }),
    once: Flags.boolean({ summary: 'Look once, and end: for a timer.' }),
    keep: Flags.integer({
      summary: 'Of each product keep the N newest complete builds; forget the others.',
      helpValue: 'N',
      min: 1,
    }),
    hook: Flags.string({ summary: 'Command that is run for each event.', helpValue: 'CMD' }),
    tags: Flags.string({ summary: 'Tags to choose files by, separated by commas.', helpValue: 'TAG,TAG' }),
    include: Flags.string({
      summary: 'Only files whose names match this glob. Repeatable.',
      helpValue: 'GLOB',
      ...repeatable,
    }),
    all: Flags.boolean({ summary: 'Keep every object of a build as the CDN has it.' }),
    patch: Flags.boolean({ summary: 'Patch files of older builds that are held, where that fetches less.' }),
    jobs: Flags.integer({ summary: 'Ranges to fetch at a time.', helpValue: 'N', min: 1, max: 256 }),
    'limit-rate': Flags.string({ summary: 'Bytes a second at most, such as 500K or 20M.', helpValue: 'RATE' }),
  };
  static override examples = [
    '<%= config.bin %> watch wow wow_classic_era --all --keep 3',
    '<%= config.bin %> watch wow --tags Windows,enUS --every 30m --hook ./announce.sh',
  ];

  async run(): Promise<void> {
    const { argv, flags } = await this.parse(Watch);
    const { once, keep, include, all, patch, jobs, hook } = flags;
    const everyMs = parseAge(flags.every);
    const choice = {
      tags: parseTags(flags.tags),
      include,
      all,
      patch,
      jobs,
      limitRate: parseRate(flags['limit-rate']),
    };
    let isTerminated = false;
    process.once('SIGTERM', () => {
      isTerminated = true;
    });
    try {
      await this.withSession(flags, (session) =>
        watch(session, argv as string[], { ...this.work(), ...choice, everyMs, once, keep }, async (event) => {
          this.endProgress();
          if (this.jsonEnabled()) process.stdout.write(`${toJson(event, 0)}\n`);
          else this.log(renderEvent(event));
          const problem = hook === undefined ? undefined : await runHook(hook, event, this.signal);
          if (problem !== undefined) this.note(problem);
        }),
      );
    } catch (error) {
      // A service manager ends it so, and calls anything but 0 a failure.
      if (!isTerminated || !this.signal.aborted) throw error;
    }
  }
}
