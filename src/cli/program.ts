import { Command, CommanderError } from 'commander';
import { isInstance } from '../receiver/values/foreign-values.ts';
import { type StoreName, stores } from '../stores/list.ts';
import {
  currentExitCode,
  EXIT_CODES_HELP,
  exitCodeOf,
  exitCodes,
  lineOf,
  resetExitCode,
  setExitCode,
} from './failure.ts';
import { hideSecrets } from './hide-secrets.ts';
import { version } from './manifest.ts';
import { endWithReader, note, writeText } from './output.ts';
import { programName } from './program-name.ts';
import { storeParts } from './stores/store-parts.ts';

/**
 * The function that adds each command. The modules of a command are loaded when it runs: loading those of all
 * commands takes longer than most of them take to run.
 */
const commands: ReadonlyMap<string, () => Promise<(program: Command) => void>> = new Map([
  ['demo', async () => (await import('./demo/command.ts')).addDemo],
  ['dev', async () => (await import('./dev.ts')).addDev],
  ['trigger', async () => (await import('./trigger.ts')).addTrigger],
  ['deliveries', async () => (await import('./deliveries.ts')).addDeliveries],
  ['advance', async () => (await import('./advance.ts')).addAdvance],
  ['sandbox', async () => (await import('./sandbox.ts')).addSandbox],
  ['listen', async () => (await import('./listen.ts')).addListen],
  ['send', async () => (await import('./send.ts')).addSend],
  ['verify', async () => (await import('./verify.ts')).addVerify],
  ['webhooks', async () => (await import('./webhooks/command.ts')).addWebhooks],
  ['dead-letters', async () => (await import('./dead-letters/command.ts')).addDeadLetters],
  ['operator', async () => (await import('./operator/command.ts')).addOperator],
  ['ids', async () => (await import('./ids/command.ts')).addIds],
  ['events', async () => (await import('./events/command.ts')).addEvents],
  ...stores
    .filter(({ migration }) => migration !== undefined)
    .map(({ name }) => [name, () => addCommandOf(name)] as const),
  ['fx-quotes', async () => (await import('./fx-quotes.ts')).addFxQuotes],
  ['e-checks', async () => (await import('./e-checks.ts')).addEChecks],
  ['lists', async () => (await import('./lists.ts')).addLists],
]);

async function addCommandOf(name: StoreName): Promise<(program: Command) => void> {
  const { addCommand } = await storeParts[name]();
  return (program) => addCommand?.(program);
}

/** Runs one command to its end, prints its error if it fails, and sets the exit code. */
export async function run(argv: readonly string[]): Promise<void> {
  resetExitCode();
  try {
    const words = helpOptionOf(argv);
    await (await createProgram(words[2])).parseAsync(words);
  } catch (error) {
    if (isInstance(error, CommanderError)) {
      // Commander has printed it.
      setExitCode(error.exitCode === 0 ? exitCodes.ok : exitCodes.usage);
    } else {
      note(lineOf(error));
      setExitCode(exitCodeOf(error));
    }
  }
  process.exitCode = currentExitCode();
}

/** `help dead-letters replay` as `dead-letters replay --help`: commander's command takes one name only. */
function helpOptionOf(argv: readonly string[]): readonly string[] {
  const [node = '', file = '', command, ...names] = argv;
  return command === 'help' && names.length > 1 ? [node, file, ...names, '--help'] : argv;
}

/**
 * Contains all commands unless one is named: the help lists them, and a misspelt name is compared with them.
 */
export async function createProgram(name = ''): Promise<Command> {
  const program = new Command('posthorn')
    .description(
      'Webhooks of the payments and banking service: receive, send, check, manage and replay them; its FX ' +
        'quotes, eChecks and reference lists.',
    )
    .version(version)
    .helpCommand(true)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => {
        endWithReader();
        writeText('stdout', withProgramName(text));
      },
      writeErr: (text) => writeText('stderr', text),
      outputError: (text, write) => write(toOwnForm(text)),
    })
    .addHelpText('after', EXIT_CODES_HELP);
  const named = commands.get(name);
  for (const load of named === undefined ? commands.values() : [named]) (await load())(program);
  explainOptions(program, () => program.commands.find((group) => process.argv.includes(group.name())));
  for (const group of program.commands) if (group.commands.length > 0) explainOptions(group, () => group);
  return program;
}

/** Says which commands of a group take an option that was given before the name of the command. */
function explainOptions(command: Command, groupOf: () => Command | undefined): void {
  command.configureOutput({
    outputError: (text, write) => {
      const [, flag = ''] = /^error: unknown option '(--?[^'=\s]+)/.exec(text) ?? [];
      const group = groupOf();
      const [first, ...others] = (group?.commands ?? [])
        .filter(({ options }) => options.some(({ long, short }) => flag === long || flag === short))
        .map((each) => each.name());
      if (group === undefined || first === undefined) return write(toOwnForm(text));
      const right = `${programName()} ${group.name()} ${first} ${flag} …`;
      const more = others.length === 0 ? '' : ` (or ${others.join(', ')})`;
      write(`posthorn: ${flag} stands after the name of a command: ${right}${more}\n`);
    },
  });
}

/** The examples of a help text, each after a `$`, so that they can be pasted. */
function withProgramName(text: string): string {
  return text.replace(/(?<=^ {2}\$ .*)\bposthorn(?= [a-z])/gm, programName());
}

/** The value of a misspelt option, as in `--keey=…`, may be a secret. */
function toOwnForm(text: string): string {
  return hideSecrets(text.replace(/^error: /, 'posthorn: ').replace(/'(--?[^'=\s]+)=[^\n]*'/, "'$1=…'"));
}
