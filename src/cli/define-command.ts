import type { Command, Option } from 'commander';
import { jsonOption } from './options.ts';

/** Adds a command with its options, `--json` after them, and the text that follows them in its help. */
export function defineCommand(
  parent: Command,
  usage: string,
  description: string,
  help: string,
  options: readonly Option[] = [],
): Command {
  const command = parent.command(usage).description(description);
  for (const option of [...options, jsonOption()]) command.addOption(option);
  return command.addHelpText('after', help);
}
