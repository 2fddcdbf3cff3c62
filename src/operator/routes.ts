import { eventRoutes } from './events/routes.ts';
import { shownHealth } from './health.ts';
import { letterRoutes } from './letters/routes.ts';
import { createOperatorDocument } from './openapi.ts';
import { get, type Route } from './route.ts';
import { deliveries, document, health, receivers } from './shapes/answers.ts';
import { noQuery } from './shapes/requests.ts';

/** Each path of the interface. */
export const routes: readonly Route[] = [
  get({
    path: '/api/receivers',
    operationId: 'listReceivers',
    summary: 'List the receivers, and say who asks',
    query: noQuery,
    answer: receivers,
    isOfAll: true,
    handle: ({ identity, receivers: all }) => ({
      receivers: all.map(({ name, receiver }) => ({
        name,
        provider: receiver.settings.provider.name,
        deadLetters: receiver.deadLetters !== undefined,
        journal: receiver.settings.journal !== undefined,
      })),
      operator: identity,
    }),
  }),
  get({
    path: '/api/health',
    operationId: 'getHealth',
    summary: 'Ask the store and the dead letters',
    query: noQuery,
    answer: health,
    handle: async ({ operated }) => shownHealth(await operated.receiver.health()),
  }),
  get({
    path: '/api/deliveries',
    operationId: 'listDeliveries',
    summary: 'List the last deliveries and runs of this process: 200 with an event, and 20 without',
    query: noQuery,
    answer: deliveries,
    handle: ({ operated }) => ({ since: operated.reports.since, deliveries: operated.reports.latest }),
  }),
  ...letterRoutes,
  ...eventRoutes,
  get({
    path: '/api/openapi.json',
    operationId: 'getDocument',
    summary: 'Get this document',
    query: noQuery,
    answer: document,
    isOfAll: true,
    handle: ({ options }) => createOperatorDocument(routes, options.path),
  }),
];
