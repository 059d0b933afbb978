import * as Args from '@oclif/core/args';
import { CliCommand } from '../src/cli/base-command.ts';
import { showHelp } from '../src/cli/help/show-help.ts';

export default class Help extends CliCommand {
  static override enableJsonFlag = false;
  static override summary = 'Show the commands, or how one is written.';
  static override args = {
    command: Args.string({ description: 'The command.', multiple: true, ignoreStdin: true }),
  };
  static override examples = [
    '<%= config.bin %> help',
    '<%= config.bin %> help sync',
    '<%= config.bin %> help keys import',
  ];

  async run(): Promise<void> {
    const { args } = await this.parse(Help);
    showHelp(this.config, args.command ?? []);
  }
}
