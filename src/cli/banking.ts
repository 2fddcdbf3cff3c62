import { createClient } from '../service/client/create-client.ts';
import { requireSettings, type SettingOptions } from './settings.ts';

/** The settings of FX quotes and eChecks. */
export const bankingSettings = ['baseUrl', 'bankingToken', 'apiKey'] as const;

export type BankingOptions = SettingOptions<(typeof bankingSettings)[number]>;

/** Creates a client for FX quotes and eChecks. */
export function connectToBanking(
  options: BankingOptions,
): Pick<ReturnType<typeof createClient>, 'fxQuotes' | 'eChecks'> {
  requireSettings(options, bankingSettings);
  const { baseUrl, bankingToken: token, apiKey } = options;
  return createClient({ baseUrl, banking: { token, apiKey } });
}
