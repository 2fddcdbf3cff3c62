import { type Command, Option } from 'commander';
import type { FxQuote } from '../service/client/fx-quotes.ts';
import type { FxQuoteRequest } from '../service/shapes/fx-quotes.ts';
import { type BankingOptions, bankingSettings, connectToBanking } from './banking.ts';
import { defineCommand } from './define-command.ts';
import { EXIT_CODES_HELP, usageError } from './failure.ts';
import type { JsonOption } from './options.ts';
import { createOutput, endWithReader } from './output.ts';
import { settingOptions } from './settings.ts';
import { colours, line, type Printable } from './terminal-text.ts';

interface ReadOptions extends BankingOptions, JsonOption {}

interface CreateOptions extends ReadOptions {
  readonly destinationAmount?: string;
  readonly sourceAmount?: string;
}

const CREATE_HELP = `
Give one amount, as a decimal number: --destination-amount must arrive at the beneficiary, --source-amount is debited in
USD. The service computes the other one. A quote holds for 30 seconds. The request is sent once, and never repeated.
`;

const CREATE_EXAMPLES = `
  $ export POSTHORN_BASE_URL=https://api.example.com POSTHORN_BANKING_TOKEN=… POSTHORN_API_KEY=…
  $ posthorn fx-quotes create EUR --destination-amount 250.00
  $ posthorn fx-quotes create EUR --source-amount 100.00 --json | jq -r .fxRate`;

const RETRIEVE_HELP = `
No command accepts a quote: the service accepts it when an international-wire transaction uses it. A sandbox accepts it
on POST /sandbox/fxQuotes/<id>/accept.
`;

/** `posthorn fx-quotes` */
export function addFxQuotes(program: Command): void {
  const group = program
    .command('fx-quotes')
    .description('ask for quotes from USD to another currency, and read them again');
  const examples = `${EXIT_CODES_HELP}\n\nExamples:`;
  const createHelp = `${CREATE_HELP}${examples}${CREATE_EXAMPLES}`;
  defineCommand(group, 'create <currency>', 'ask for a quote', createHelp, [
    ...settingOptions(...bankingSettings),
    new Option('--destination-amount <amount>', 'the amount that must arrive, in the currency'),
    new Option('--source-amount <amount>', 'the amount that is debited, in USD'),
  ]).action(create);
  defineCommand(
    group,
    'retrieve <id>',
    'read a quote; its status may have become ACCEPTED',
    `${RETRIEVE_HELP}${examples}\n  $ posthorn fx-quotes retrieve 5001`,
    settingOptions(...bankingSettings),
  ).action(retrieve);
}

async function create(currency: string, options: CreateOptions): Promise<void> {
  const request = readRequest(currency, options);
  printQuote(await connectToBanking(options).fxQuotes.create(request), options);
}

async function retrieve(id: string, options: ReadOptions): Promise<void> {
  endWithReader();
  if (!/^\d{1,15}$/.test(id)) throw usageError('the id of a quote is a whole number');
  printQuote(await connectToBanking(options).fxQuotes.retrieve(Number(id)), options);
}

function readRequest(currency: string, { destinationAmount, sourceAmount }: CreateOptions): FxQuoteRequest {
  if (destinationAmount !== undefined && sourceAmount === undefined) {
    return { destination: { currency, amount: destinationAmount } };
  }
  if (sourceAmount !== undefined && destinationAmount === undefined) {
    return { destination: { currency }, source: { amount: sourceAmount } };
  }
  throw usageError('give one amount: --destination-amount or --source-amount');
}

function printQuote(quote: FxQuote, options: JsonOption): void {
  createOutput(options).print(quote, () => linesOf(quote));
}

function linesOf(quote: FxQuote): readonly Printable[] {
  const { id, status, destination, source, fxRate, fee } = quote;
  const amounts = `${destination.amount} ${destination.currency} for ${source.amount} ${source.currency}`;
  return [
    line`${colours.strong(id)} ${status} ${amounts}`,
    line`  at ${fxRate}, fee ${fee}, ${expiryOf(quote)}`,
  ];
}

/** The clock of this machine decides. A quote that was accepted in time does not expire any more. */
function expiryOf({ status, expiresAt, isExpired }: FxQuote): Printable {
  const time = expiresAt.toISOString().replace('.000Z', 'Z');
  return status === 'GENERATED' && isExpired() ? colours.bad(`expired at ${time}`) : `until ${time}`;
}
