import { type ECheckLookup, eCheckRequest } from '../shapes/e-checks.ts';
import { E_CHECKS_QUERY, paths } from '../shapes/paths.ts';
import { ok } from './answer.ts';
import type { Guard } from './authentication.ts';
import { complaintsOf } from './complaints.ts';
import { account, eChecks } from './e-checks.ts';
import type { Endpoint } from './endpoint.ts';

/** The eCheck lookup; its status is inside the body (interface, "Errors"). */
export function eCheckRoutes(guard: Guard): readonly Endpoint[] {
  return [
    {
      path: paths.eChecks,
      guard,
      post: ({ query, body }) =>
        ok(
          query.has(E_CHECKS_QUERY)
            ? lookUp(body)
            : failed(2, `unknown function; the query must be ?${E_CHECKS_QUERY}`),
        ),
    },
  ];
}

/** A lookup that matches no check succeeds with an empty list. */
function lookUp(body: unknown): ECheckLookup {
  const { data, error } = eCheckRequest.safeParse(body);
  if (error !== undefined) return failed(1, complaintsOf(error));
  const wanted = new Set([data.merchantTransID].flat());
  const checkInfo = eChecks.filter(({ MerchantTransID }) => wanted.has(MerchantTransID));
  return { errorCode: 0, errorMessage: '', ...account, checkInfo };
}

function failed(errorCode: number, errorMessage: string): ECheckLookup {
  return { errorCode, errorMessage, bankName: '', bankAlias: '', accountLast4: '', checkInfo: [] };
}
