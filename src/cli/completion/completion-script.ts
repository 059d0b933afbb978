import type { ProgramFacts } from '../help/help-text.ts';
import { bashCompletion } from './bash.ts';
import { completedCommands } from './completed.ts';
import { fishCompletion } from './fish.ts';
import { zshCompletion } from './zsh.ts';

/** The shells that have a completion. */
export const shells = ['bash', 'zsh', 'fish'] as const;

/** The script that completes the command line in a shell, one of {@link shells}. */
export function completionScript(shell: string, program: ProgramFacts): string {
  const { bin, topics } = program;
  const commands = completedCommands(program);
  if (shell === 'bash') return bashCompletion(bin, commands);
  return shell === 'zsh' ? zshCompletion(bin, commands, topics) : fishCompletion(bin, commands, topics);
}
