import { type Command, InvalidArgumentError, Option } from 'commander';
import { defineCommand } from './define-command.ts';
import { setFailed, usageError } from './failure.ts';
import { headerOption, readHeaderOptions } from './header-option.ts';
import { readInput } from './input.ts';
import type { JsonOption, KeyOption } from './options.ts';
import { createReadingOutput } from './output.ts';
import { canSetHeader, type ProviderOptions, providerOptions, readProvider } from './provider-option.ts';
import { requireSettings, settingOptions } from './settings.ts';
import { diagnose, diagnoseRequest } from './signature-diagnosis.ts';
import { colours, line } from './terminal-text.ts';

interface VerifyOptions extends JsonOption, KeyOption, ProviderOptions {
  readonly signature?: string;
  readonly header?: readonly string[];
}

const HELP = `
The body must be the exact bytes that came: not parsed and serialized again, and without an added line end.
If the signature does not match, common mistakes are tried, and the one that explains the signature is named.
--signature is for the banking service; with --header the headers of any sender are read. If they have the signature of
another sender, it is named. A signature of long ago verifies, with a note that a receiver refuses it now.

Exit codes: 0 it verifies, 1 it does not, 2 wrong usage or an unreadable file.

Examples:
  $ export SIGNING_KEY=…
  $ posthorn verify body.json --signature 5f8d…
  $ printf %s "$body" | posthorn verify --signature "$signature" --json
  $ posthorn verify body.json --provider stripe --header 'stripe-signature: t=1767225600,v1=5f8d…'
  $ posthorn verify body.json --provider svix --header @headers.txt`;

/** `posthorn verify` */
export function addVerify(program: Command): void {
  const description = 'check the signature of a body, and if it is wrong, say what may be the mistake';
  defineCommand(program, 'verify', description, HELP, [
    new Option('--signature <hex>', "the value of the banking service's signature header")
      .argParser(notEmpty)
      .conflicts('header'),
    headerOption(),
    ...providerOptions(),
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
  const isSignatureMissing = options.signature === undefined && options.header === undefined;
  const complaint = 'the signature is missing: give --signature, or the headers of the request in --header';
  requireSettings(options, ['key'], [{ isMissing: isSignatureMissing, complaint }]);
  const provider = await readProvider(options, output.json);
  if (options.signature !== undefined && !canSetHeader(provider))
    throw usageError(
      `--signature is for the banking service: give the headers of ${provider.name} in --header`,
    );
  const body = await readInput(file);
  const { verified, hints } =
    options.signature !== undefined
      ? await diagnose(body, options.signature, options.key)
      : await diagnoseRequest(
          { body, headers: await readHeaderOptions(options.header ?? []) },
          provider,
          options.key,
        );
  output.print({ verified, bytes: body.byteLength, hints }, () => [
    verified
      ? line`${colours.good('verified')}: the signature matches these ${body.byteLength} bytes`
      : line`${colours.bad('not verified')}: ${body.byteLength} bytes`,
    ...hints.map((hint) => `  ${hint}`),
  ]);
  if (!verified) setFailed();
}
