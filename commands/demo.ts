import * as Flags from '@oclif/core/flags';
import { CliCommand } from '../src/cli/base-command.ts';
import { userSettings } from '../src/cli/settings-file.ts';
import { type DemoReport, interruptedHint, programName, runDemo } from '../src/demo/demo.ts';

export default class Demo extends CliCommand {
  static override summary = 'Show everything at once on a small sample game.';
  static override description =
    `Publishes a game that lies in this package as a build, serves it on this machine, syncs it, stops half-way on purpose, goes on, and extracts and compares every file. It takes some seconds and no network.

The store and the extracted files stay in the folder that --to names, and nothing else does. A folder that the demo made before is replaced; one with anything else in it is refused. It has a store and a server of its own, whatever --store and --patch-url say.`;
  static override flags = {
    to: Flags.string({ summary: 'Folder to work in.', helpValue: 'DIR', default: 'pakrat-demo' }),
  };
  static override examples = [
    '<%= config.bin %> demo',
    '<%= config.bin %> demo --to /tmp/pakrat-demo',
    '<%= config.bin %> demo --json --quiet',
  ];

  protected override interruptedHint = interruptedHint;

  async run(): Promise<DemoReport> {
    const { flags } = await this.parse(Demo);
    const program = programName(process.argv[1], this.config.bin);
    const log = (text: string): void => {
      this.endProgress();
      this.log(text);
    };
    const request = { to: flags.to, program, settings: await userSettings() };
    return this.withProgress(flags, (work) => runDemo(request, { ...work, log }));
  }
}
