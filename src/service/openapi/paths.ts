import { assumed } from '../shapes/assumptions.ts';
import { eCheckLookup, eCheckRequest } from '../shapes/e-checks.ts';
import { fxQuote, fxQuoteRequest } from '../shapes/fx-quotes.ts';
import { E_CHECKS_QUERY, paths } from '../shapes/paths.ts';
import { currencyList, paymentPurposeList } from '../shapes/reference-lists.ts';
import { jsonBody, jsonResponse, responsesWith } from './bodies.ts';
import type { Operation, PathItem } from './operation.ts';
import { webhookPaths } from './webhook-paths.ts';

/** Every path of the interface. */
export function openApiPaths(): Record<string, PathItem> {
  return {
    [paths.fxQuotes]: { post: createFxQuote },
    [paths.fxQuote]: { get: retrieveFxQuote },
    [paths.eChecks]: { post: findChecks },
    [paths.login]: { post: login },
    [paths.paymentPurposes]: { get: listPaymentPurposes },
    [paths.currencies]: { get: listCurrencies },
    ...webhookPaths(),
  };
}

const banking = [{ bankingToken: [], bankingApiKey: [] }];

const createFxQuote: Operation = {
  operationId: 'createFxQuote',
  summary: 'Create a quote from USD to another currency',
  description:
    'Give the currency of the destination and one amount: the one that must arrive, or the one that is debited. The answer ' +
    'carries the other. A quote expires 30 seconds after its creation; the transaction that uses it must ' +
    'be created before. The least and the highest amount and the supported pairs are not documented.',
  tags: ['FX quotes'],
  security: banking,
  requestBody: jsonBody(fxQuoteRequest),
  responses: responsesWith({ 200: jsonResponse('The quote, `GENERATED`', fxQuote) }),
  ...assumed(
    'both FX amounts',
    'both FX amounts or none, and amounts with more than two decimal places, in the sandbox',
    'rounding of the computed amount',
    'the least and the highest amount of a quote, and the supported currency pairs',
    'the supported currency pairs and the limits of amounts, in the sandbox',
  ),
};

const retrieveFxQuote: Operation = {
  operationId: 'retrieveFxQuote',
  summary: 'Retrieve a quote',
  tags: ['FX quotes'],
  security: banking,
  parameters: [{ name: 'fxQuoteId', in: 'path', required: true, schema: { type: 'integer' } }],
  responses: responsesWith({ 200: jsonResponse('The quote, `GENERATED` or `ACCEPTED`', fxQuote) }),
  ...assumed('retrieving and using a quote after its 30 seconds, in the sandbox'),
};

const findChecks: Operation = {
  operationId: 'findChecksByMerchantTransactionId',
  summary: 'Get the checks of one or several merchant transaction ids',
  tags: ['eChecks'],
  security: banking,
  parameters: [
    {
      name: E_CHECKS_QUERY,
      in: 'query',
      required: true,
      allowEmptyValue: true,
      description: 'A name without a value, which chooses the operation of the path',
      schema: { type: 'string', const: '' },
      ...assumed('the query of the eCheck lookup, which is a name without a value, in the document'),
    },
  ],
  requestBody: jsonBody(eCheckRequest),
  responses: responsesWith({
    200: jsonResponse(
      'The checks if `errorCode` is 0; any other value says that the lookup failed',
      eCheckLookup,
      assumed(
        'a lookup that matches no check',
        'a lookup that matches no check, and lookups that fail, in the sandbox',
      ),
    ),
  }),
};

const login: Operation = {
  operationId: 'login',
  summary: 'Obtain the access token of the reference lists',
  description: 'The forms of the request and of the answer are not documented.',
  tags: ['Reference lists'],
  security: [],
  requestBody: { content: { 'application/json': { schema: {} } } },
  responses: responsesWith({
    200: { description: 'Holds the access token', content: { 'application/json': { schema: {} } } },
  }),
  ...assumed(
    'the shape of the login, in the document',
    'the shape of the login, in the client',
    'the shape of the login and the lifetime of its token, in the sandbox',
  ),
};

const listPaymentPurposes: Operation = {
  operationId: 'listPaymentPurposes',
  summary: 'List all purpose codes of cross-border wires',
  tags: ['Reference lists'],
  security: [{ accessToken: [] }],
  responses: responsesWith({
    200: jsonResponse('17 entries, ids 3 to 19, ascending', paymentPurposeList),
  }),
};

const listCurrencies: Operation = {
  operationId: 'listCurrencies',
  summary: 'List all supported currencies with their countries',
  tags: ['Reference lists'],
  security: [{ accessToken: [] }],
  responses: responsesWith({
    200: jsonResponse(
      'The currencies; parameters that choose a page are not documented',
      currencyList,
      assumed('the parameters that choose a page of currencies', 'pages of currencies, in the sandbox'),
    ),
  }),
};
