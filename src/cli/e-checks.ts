import type { Command } from 'commander';
import type { ECheck, ECheckLookup } from '../service/shapes/e-checks.ts';
import { type BankingOptions, bankingSettings, connectToBanking } from './banking.ts';
import { defineCommand } from './define-command.ts';
import { EXIT_CODES_HELP } from './failure.ts';
import type { JsonOption } from './options.ts';
import { createReadingOutput } from './output.ts';
import { settingOptions } from './settings.ts';
import { colours, line, type Printable, type TerminalText } from './terminal-text.ts';

const HELP = `
The ids are your own: merchantTransID of the checks. With --json the whole answer is one line; checkInfo has the checks.
${EXIT_CODES_HELP}

Examples:
  $ export POSTHORN_BASE_URL=https://api.example.com POSTHORN_BANKING_TOKEN=… POSTHORN_API_KEY=…
  $ posthorn e-checks find MTX-1001 MTX-1002
  $ posthorn e-checks find MTX-1001 --json | jq -r '.checkInfo[].SentStatus'`;

/** `posthorn e-checks` */
export function addEChecks(program: Command): void {
  const group = program.command('e-checks').description('look up eChecks');
  const description = 'find the checks of one of your transactions, or of several';
  defineCommand(group, 'find', description, HELP, settingOptions(...bankingSettings))
    .argument('<id...>', 'merchant transaction ids')
    .action(find);
}

async function find(ids: readonly string[], options: BankingOptions & JsonOption): Promise<void> {
  const output = createReadingOutput(options);
  const lookup = await connectToBanking(options).eChecks.findByMerchantTransactionId(ids);
  output.print(lookup, () => linesOf(lookup));
}

function linesOf({ bankName, bankAlias, accountLast4, checkInfo }: ECheckLookup): readonly Printable[] {
  const account = `${bankName}, ${bankAlias}, account …${accountLast4}`;
  const checks = checkInfo.length === 0 ? ['  no check has these ids'] : checkInfo.map(lineOf);
  return [account, ...checks];
}

function lineOf(check: ECheck): TerminalText {
  const { MerchantTransID, CheckNumber, Amount, SentStatus, ProcessingStatus } = check;
  const name = `${check.FirstName} ${check.LastName}`;
  const statuses = `${SentStatus} ${ProcessingStatus}`;
  const facts = `check ${CheckNumber} ${Amount} ${statuses} ${check.TrackingNumber} ${name}`;
  return line`  ${colours.strong(MerchantTransID)} ${facts}`;
}
