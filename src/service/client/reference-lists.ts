import * as z from 'zod';
import { checkOptions } from '../../receiver/checks/check-options.ts';
import { paths } from '../shapes/paths.ts';
import {
  type Currency,
  type CurrencyPage,
  currencyList,
  type PaymentPurpose,
  paymentPurposeList,
} from '../shapes/reference-lists.ts';
import type { Answer } from './answer.ts';
import { checkLength } from './check-length.ts';
import type { CallOptions } from './options.ts';
import { type Query, withQuery } from './query.ts';
import type { Service } from './service.ts';

/** The purposes of cross-border wires; needs `profile`. */
export interface PaymentPurposes {
  /** The whole list. */
  list(options?: CallOptions): Promise<readonly PaymentPurpose[]>;
}

/** The wanted page of the currencies. */
export interface CurrencyPageRequest {
  /**
   * The parameters that choose the page. Their names are not documented, so they are sent as given. Without
   * any, the service chooses the page.
   */
  readonly query?: Query | undefined;
}

/** The supported currencies with their countries; needs `profile`. */
export interface Currencies {
  /**
   * The whole list, if the service sends it in one page. The interface does not show how to ask for a second
   * page. If the service has more than it sends, this rejects with a {@link ServiceError} of the code
   * `list_incomplete`, rather than resolve with a part. `page` of that error is the part that was read;
   * {@link Currencies.listPage} reads on.
   */
  list(options?: CallOptions): Promise<readonly Currency[]>;
  /**
   * Reads one page, and says which one it is.
   *
   * @example
   * ```ts
   * // With the parameters that your service takes: the interface does not show them.
   * const { currencies, metadata } = await client.currencies.listPage({ query: { page: 2 } });
   * console.log(currencies.length, 'of', metadata.total);
   * ```
   */
  listPage(page?: CurrencyPageRequest, options?: CallOptions): Promise<CurrencyPage>;
}

export function createPaymentPurposes(service: Service, maxItems: number): PaymentPurposes {
  return {
    async list(options) {
      const name = 'paymentPurposes.list';
      const answer = await readList(service, name, paths.paymentPurposes, options);
      const { documentTypes } = answer.read(paymentPurposeList);
      checkLength(name, documentTypes.length, maxItems);
      return documentTypes;
    },
  };
}

export function createCurrencies(service: Service, maxItems: number): Currencies {
  return {
    async list(options) {
      const name = 'currencies.list';
      const answer = await readList(service, name, paths.currencies, options);
      const page = readPage(name, answer, maxItems);
      const { total, currentPage, pageSize } = page.metadata;
      const { length } = page.currencies;
      // Both checks, because it is not shown whether pages are counted from 0 or from 1.
      if (length >= total || currentPage * pageSize >= total) return page.currencies;
      throw answer.error(
        'list_incomplete',
        `the service sent ${length} of ${total} currencies, and the interface shows no way to ask for the ` +
          'rest: read the pages with currencies.listPage({ query }), with the parameters that your service takes',
        { page },
      );
    },
    async listPage(page = {}, options) {
      const name = 'currencies.listPage';
      checkOptions(page, ['query'], name);
      const path = withQuery(paths.currencies, page.query ?? {}, name);
      return readPage(name, await readList(service, name, path, options), maxItems);
    },
  };
}

function readPage(name: string, answer: Answer, maxItems: number): CurrencyPage {
  const { data, metadata } = answer.read(currencyList);
  checkLength(name, data.length, maxItems);
  return { currencies: data, metadata };
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
