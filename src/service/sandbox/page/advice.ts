import { defaultCredentials, type SandboxCredentials } from '../options.ts';

/** The commands of the empty lists, in HTML. */
export interface Advice {
  readonly webhook: string;
  readonly quote: string;
}

/**
 * Creates the commands that the page advises, to be pasted as they are. The default credentials are public,
 * so the commands have them. Credentials of the sandbox's own are not shown: the reader sets their variables.
 */
export function adviceFor(program: string, { administrator, banking }: SandboxCredentials): Advice {
  const { administrator: defaultAdministrator, banking: defaultBanking } = defaultCredentials;
  return {
    webhook: command(
      `${program} webhooks create http://127.0.0.1:3000/webhooks`,
      { POSTHORN_USERNAME: administrator.username, POSTHORN_PASSWORD: administrator.password },
      administrator.username === defaultAdministrator.username &&
        administrator.password === defaultAdministrator.password,
    ),
    quote: command(
      `${program} fx-quotes create EUR --source-amount 100.00`,
      { POSTHORN_BANKING_TOKEN: banking.token, POSTHORN_API_KEY: banking.apiKey },
      banking.token === defaultBanking.token && banking.apiKey === defaultBanking.apiKey,
    ),
  };
}

/** The script of the page adds its own address, which this side of a proxy does not know. */
function command(text: string, variables: Readonly<Record<string, string>>, isPublic: boolean): string {
  const names = Object.keys(variables).join(' and ');
  const assignments = Object.entries(variables).map(([name, value]) => ` ${name}=${value}`);
  return (
    `<pre>export POSTHORN_BASE_URL=<span class="address"></span>${isPublic ? assignments.join('') : ''}\n` +
    `${escapeMarkup(text)}</pre>` +
    (isPublic ? '' : `\n<p class="minor">Set ${names} first: this sandbox has credentials of its own.</p>`)
  );
}

function escapeMarkup(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
