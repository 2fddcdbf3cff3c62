import { checkOptions } from '../../receiver/checks/check-options.ts';
import { ConfigurationError } from '../../receiver/errors.ts';
import {
  type ECheckLookup,
  type ECheckRequest,
  eCheckLookup,
  eCheckRequest,
  eCheckStatus,
} from '../shapes/e-checks.ts';
import { E_CHECKS_QUERY, paths } from '../shapes/paths.ts';
import { checkLength } from './check-length.ts';
import type { CallOptions } from './options.ts';
import type { Service } from './service.ts';

/**
 * Options of a lookup of checks. The values of the two texts are not documented, so they are sent as given.
 */
export interface ECheckOptions extends CallOptions {
  /** Asks for custom fields, which come as further members of each check; `0`, the default, asks for none. */
  readonly returnCustomFields?: string | undefined;
  /** Left out by default; may be empty. */
  readonly inBehalf?: string | undefined;
}

/** Checks by the caller's own ids; needs `banking`. */
export interface EChecks {
  /**
   * Looks up the checks of one of your transactions, or of several. Rejects with a {@link ServiceError} of
   * the code `e_check_failed` if the service reports an `errorCode` other than 0.
   */
  findByMerchantTransactionId(
    ids: string | readonly string[],
    options?: ECheckOptions,
  ): Promise<ECheckLookup>;
}

export function createEChecks(service: Service, maxItems: number): EChecks {
  return {
    async findByMerchantTransactionId(ids, options = {}) {
      const name = 'eChecks.findByMerchantTransactionId';
      checkOptions(options, ['returnCustomFields', 'inBehalf', 'signal'], `the last argument of ${name}`);
      const { returnCustomFields = '0', inBehalf, signal } = options;
      const body: ECheckRequest = { merchantTransID: ids, returnCustomFields, inBehalf };
      if (!eCheckRequest.safeParse(body).success) {
        throw new ConfigurationError(
          `${name} takes one id, or a list of at least one, and no empty id; returnCustomFields and inBehalf ` +
            'are texts',
        );
      }
      const path = `${paths.eChecks}?${E_CHECKS_QUERY}`;
      // A lookup does not change anything, so this POST may be repeated.
      const answer = await service(
        { name, area: 'banking', method: 'POST', path, body, repeatable: true },
        { signal },
      );
      const { errorCode, errorMessage } = answer.read(eCheckStatus);
      if (errorCode === 0) {
        const lookup = answer.read(eCheckLookup);
        checkLength(name, lookup.checkInfo.length, maxItems);
        return lookup;
      }
      const message = errorMessage || `the eCheck lookup failed with errorCode ${errorCode}`;
      throw answer.error('e_check_failed', message, { errorCode });
    },
  };
}
