import { type Command, InvalidArgumentError, Option } from 'commander';
import { defineCommand } from './define-command.ts';
import { setFailed } from './failure.ts';
import { readInput } from './input.ts';
import type { JsonOption, KeyOption } from './options.ts';
import { createReadingOutput } from './output.ts';
import { requireSettings, settingOptions } from './settings.ts';
import { diagnose } from './signature-diagnosis.ts';
import { colours, line } from './terminal-text.ts';

interface VerifyOptions extends JsonOption, KeyOption {
  readonly signature: string;
}

const HELP = `
The body must be the exact bytes that came: not parsed and serialized again, and without an added line end.
If the signature does not match, common mistakes are tried, and the one that explains the signature is named.

Exit codes: 0 it verifies, 1 it does not, 2 wrong usage or an unreadable file.

Examples:
  $ export SIGNING_KEY=…
  $ posthorn verify body.json --signature 5f8d…
  $ printf %s "$body" | posthorn verify --signature "$signature" --json`;

/** `posthorn verify` */
export function addVerify(program: Command): void {
  const description = 'check the signature of a body, and if it is wrong, say what may be the mistake';
  defineCommand(program, 'verify', description, HELP, [
    new Option('--signature <hex>', 'the value of the signature header')
      .argParser(notEmpty)
      .makeOptionMandatory(),
    ...settingOptions('key'),
  ])
    .argument('[file]', 'the raw body; - for stdin', '-')
    .action(verify);
}

function notEmpty(text: string): string {
  if (text !== '') return text;
  throw new InvalidArgumentError('It must not be empty.');
}

async function verify(file: string, options: VerifyOptions): Promise<void> {
  const output = createReadingOutput(options);
  requireSettings(options, ['key']);
  const body = await readInput(file);
  const { verified, hints } = diagnose(body, options.signature, options.key);
  output.print({ verified, bytes: body.byteLength, hints }, () =>
    verified
      ? line`${colours.good('verified')}: the signature matches these ${body.byteLength} bytes`
      : [line`${colours.bad('not verified')}: ${body.byteLength} bytes`, ...hints.map((hint) => `  ${hint}`)],
  );
  if (!verified) setFailed();
}
