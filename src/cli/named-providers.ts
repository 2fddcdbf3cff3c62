import type { SignatureCheck } from '../receiver/authentication/signature-check.ts';
import { checkedFormOf } from '../receiver/provider/checked-provider.ts';
import type { Provider } from '../receiver/provider/provider.ts';
import type { HeaderValues } from '../receiver/request/headers.ts';

type Providers = typeof import('../providers/index.ts');

/** The providers that need no options, by the names that `--provider` takes. */
const creators: ReadonlyMap<string, (providers: Providers) => Provider> = new Map<
  string,
  (providers: Providers) => Provider
>([
  ['banking-service', ({ bankingService }) => bankingService()],
  ['stripe', ({ stripe }) => stripe()],
  ['standard-webhooks', ({ standardWebhooks }) => standardWebhooks()],
  ['github', ({ github }) => github()],
  ['shopify', ({ shopify }) => shopify()],
  ['slack', ({ slack }) => slack()],
  ['svix', ({ standardWebhooks }) => standardWebhooks({ name: 'svix', headerPrefix: 'svix' })],
]);

export const providerNames: readonly string[] = [...creators.keys()];

/** Creates a provider by its name; undefined for any other text. The help of a command loads none. */
export async function createNamedProvider(name: string): Promise<Provider | undefined> {
  return creators.get(name)?.(await import('../providers/index.ts'));
}

/** Says which other provider's signature some headers have; undefined if they have none. */
export type OtherSenders = (headers: HeaderValues) => string | undefined;

/** Creates the search among all named providers but the chosen one. */
export async function createOtherSenders(chosen: Provider): Promise<OtherSenders> {
  const providers = await import('../providers/index.ts');
  const others = [...creators].filter(([name]) => name !== chosen.name);
  const senders = others.map(([name, create]) => ({ name, check: checkOf(create(providers)) }));
  return (headers) => {
    const found = senders.find(({ check }) => check.isSent(headers));
    return found && `the headers have a signature of ${found.name}: use --provider ${found.name}`;
  };
}

/** The key is never asked for. */
function checkOf(provider: Provider): SignatureCheck {
  return checkedFormOf(provider).createSignatureCheck(() => undefined);
}
