import { z } from 'zod';
import { paths } from '../service/paths.ts';
import {
  type Currency,
  currencyList,
  type PaymentPurpose,
  paymentPurposeList,
} from '../service/reference-lists.ts';
import type { Answer } from './answer.ts';
import type { CallOptions } from './options.ts';
import type { Service } from './service.ts';

/** The reasons of cross-border wires; needs `profile`. */
export interface PaymentPurposes {
  /** The whole list. */
  list(options?: CallOptions): Promise<readonly PaymentPurpose[]>;
}

/** The supported currencies with their countries; needs `profile`. */
export interface Currencies {
  /**
   * The whole list. The interface shows no way to ask for a second page, so a service that has
   * more than it sends makes this reject with a {@link ServiceError} of the code
   * `list_incomplete`, rather than resolve with a part.
   */
  list(options?: CallOptions): Promise<readonly Currency[]>;
}

export function createPaymentPurposes(service: Service): PaymentPurposes {
  return {
    async list(options) {
      const answer = await readList(service, 'paymentPurposes.list', paths.paymentPurposes, options);
      return answer.read(paymentPurposeList).documentTypes;
    },
  };
}

export function createCurrencies(service: Service): Currencies {
  return {
    async list(options) {
      const answer = await readList(service, 'currencies.list', paths.currencies, options);
      const { data, metadata } = answer.read(currencyList);
      const { total, currentPage, pageSize } = metadata;
      // Both, because whether pages are counted from 0 or from 1 is not shown.
      if (data.length >= total || currentPage * pageSize >= total) return data;
      throw answer.error(
        'list_incomplete',
        `the service sent ${data.length} of ${total} currencies, and the interface shows no way to ask ` +
          'for the rest',
      );
    },
  };
}

const listStatus = z.looseObject({ success: z.boolean() });

async function readList(
  service: Service,
  name: string,
  path: string,
  options: CallOptions | undefined,
): Promise<Answer> {
  // The interface lists this header for these two, although they have no body.
  const headers = { 'content-type': 'application/json' };
  const answer = await service(
    { name, area: 'profile', method: 'GET', path, headers, repeatable: true },
    options,
  );
  if (answer.read(listStatus).success) return answer;
  throw answer.error('service_refused', `the service answered GET ${path} with success: false`);
}
