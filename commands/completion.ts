import * as Args from '@oclif/core/args';
import { CliCommand } from '../src/cli/base-command.ts';
import { completionScript, shells } from '../src/cli/completion/completion-script.ts';
import { programFacts } from '../src/cli/help/show-help.ts';

export default class Completion extends CliCommand {
  static override enableJsonFlag = false;
  static override summary = 'Print the script that completes commands and flags in a shell.';
  static override description =
    `For bash, write it to ~/.local/share/bash-completion/completions/pakrat, or source it in ~/.bashrc. For zsh, write it to _pakrat in a folder of fpath. For fish, write it to ~/.config/fish/completions/pakrat.fish. It asks nothing while it completes.`;
  static override args = {
    shell: Args.string({ description: 'The shell.', required: true, options: [...shells], ignoreStdin: true }),
  };
  static override examples = [
    '<%= config.bin %> completion bash > pakrat.bash',
    '<%= config.bin %> completion zsh > _pakrat',
    '<%= config.bin %> completion fish > pakrat.fish',
  ];

  async run(): Promise<void> {
    const { args } = await this.parse(Completion);
    process.stdout.write(completionScript(args.shell, programFacts(this.config)));
  }
}
