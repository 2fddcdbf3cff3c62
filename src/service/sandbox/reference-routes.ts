import * as z from 'zod';
import { paths } from '../shapes/paths.ts';
import type { CurrencyList, PaymentPurposeList } from '../shapes/reference-lists.ts';
import { ok } from './answer.ts';
import type { Guard } from './authentication.ts';
import type { Endpoint } from './endpoint.ts';
import type { SandboxCredentials } from './options.ts';
import { paymentPurposes } from './payment-purposes.ts';
import { rates } from './rates.ts';
import { RefusedError } from './refused-error.ts';

const purposeList: PaymentPurposeList = { success: true, documentTypes: paymentPurposes };

const currencies = rates
  .flatMap(({ currency, countries }) =>
    countries.map((countryName) => ({ currencyName: currency, countryName })),
  )
  .map((entry, index) => ({ id: index + 1, ...entry }));

/** All currencies on one page, because it is not shown how to ask for another. */
const currencyList: CurrencyList = {
  success: true,
  data: currencies,
  metadata: { total: currencies.length, currentPage: 1, pageSize: currencies.length },
};

/**
 * The login and the two lists that its token opens (interface, "Login" to "List all supported currencies").
 */
export function referenceRoutes(
  { administrator, user, profile }: SandboxCredentials,
  guard: Guard,
): readonly Endpoint[] {
  return [
    {
      path: paths.login,
      post: ({ body }) => {
        const { username, password } = readLogin(body);
        const isKnown = [administrator, user].some(
          (known) => known.username === username && known.password === password,
        );
        if (!isKnown) throw new RefusedError(401, 'Unauthorized', 'username or password is wrong');
        return ok({ success: true, accessToken: profile.accessToken });
      },
    },
    { path: paths.paymentPurposes, guard, get: () => ok(purposeList) },
    { path: paths.currencies, guard, get: () => ok(currencyList) },
  ];
}

const login = z.looseObject({ username: z.string(), password: z.string() });

function readLogin(body: unknown): z.infer<typeof login> {
  const { data } = login.safeParse(body);
  if (data === undefined) throw new RefusedError(400, 'Invalid login', 'username and password are required');
  return data;
}
