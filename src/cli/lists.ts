import type { Command } from 'commander';
import { createClient } from '../service/client/create-client.ts';
import { type ProfileOptions, profileOptions, requireProfile } from './connection.ts';
import { EXIT_CODES_HELP } from './failure.ts';
import { type JsonOption, jsonOption } from './options.ts';
import { createOutput, endWithReader } from './output.ts';

interface ListOptions extends ProfileOptions, JsonOption {}

const HELP = `
The access token comes from the service's login. The interface does not show its form, so log in by your own means.
${EXIT_CODES_HELP}

Examples:
  $ export POSTHORN_BASE_URL=https://api.example.com POSTHORN_ACCESS_TOKEN=…`;

/** `posthorn lists` */
export function addLists(program: Command): void {
  const group = program.command('lists').description('list payment purposes and currencies');
  const add = (name: string, description: string, example: string): Command => {
    const command = group.command(name).description(description);
    for (const option of profileOptions()) command.addOption(option);
    return command.addOption(jsonOption()).addHelpText('after', `${HELP}\n  $ ${example}`);
  };
  add(
    'payment-purposes',
    'list the purposes that cross-border wires need',
    'posthorn lists payment-purposes --json | jq -r .title',
  ).action(listPaymentPurposes);
  add('currencies', 'list the supported currencies with their countries', 'posthorn lists currencies').action(
    listCurrencies,
  );
}

async function listPaymentPurposes(options: ListOptions): Promise<void> {
  const output = createOutput(options);
  endWithReader();
  for (const purpose of await createClient(requireProfile(options)).paymentPurposes.list()) {
    output.print(purpose, () => `${purpose.id} ${purpose.title}`);
  }
}

async function listCurrencies(options: ListOptions): Promise<void> {
  const output = createOutput(options);
  endWithReader();
  for (const currency of await createClient(requireProfile(options)).currencies.list()) {
    output.print(currency, () => `${currency.currencyName} ${currency.countryName}`);
  }
}
