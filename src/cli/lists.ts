import type { Command } from 'commander';
import { createClient } from '../service/client/create-client.ts';
import { defineCommand } from './define-command.ts';
import { EXIT_CODES_HELP } from './failure.ts';
import type { JsonOption } from './options.ts';
import { createReadingOutput } from './output.ts';
import { requireSettings, type SettingOptions, settingOptions } from './settings.ts';

const profileSettings = ['baseUrl', 'accessToken'] as const;

type ListOptions = SettingOptions<(typeof profileSettings)[number]> & JsonOption;

const HELP = `
The access token comes from the service's login. The interface does not show its form, so log in by your own means.
${EXIT_CODES_HELP}

Examples:
  $ export POSTHORN_BASE_URL=https://api.example.com POSTHORN_ACCESS_TOKEN=…`;

/** `posthorn lists` */
export function addLists(program: Command): void {
  const group = program.command('lists').description('list payment purposes and currencies');
  const add = (name: string, description: string, example: string): Command =>
    defineCommand(group, name, description, `${HELP}\n  $ ${example}`, settingOptions(...profileSettings));
  add(
    'payment-purposes',
    'list the purposes that cross-border wires need',
    'posthorn lists payment-purposes --json | jq -r .title',
  ).action(listPaymentPurposes);
  add('currencies', 'list the supported currencies with their countries', 'posthorn lists currencies').action(
    listCurrencies,
  );
}

function connect(
  options: ListOptions,
): Pick<ReturnType<typeof createClient>, 'paymentPurposes' | 'currencies'> {
  requireSettings(options, profileSettings);
  const { baseUrl, accessToken } = options;
  return createClient({ baseUrl, profile: { accessToken } });
}

async function listPaymentPurposes(options: ListOptions): Promise<void> {
  const output = createReadingOutput(options);
  for (const purpose of await connect(options).paymentPurposes.list()) {
    output.print(purpose, () => `${purpose.id} ${purpose.title}`);
  }
}

async function listCurrencies(options: ListOptions): Promise<void> {
  const output = createReadingOutput(options);
  for (const currency of await connect(options).currencies.list()) {
    output.print(currency, () => `${currency.currencyName} ${currency.countryName}`);
  }
}
