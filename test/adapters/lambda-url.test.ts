import type { Delivery } from 'posthorn';
import { type LambdaEvent, toLambda } from 'posthorn/lambda';
import { expect, test } from 'vitest';
import {
  functionUrlEvent,
  httpApiEvent,
  loadBalancerEvent,
  multiValueEvent,
  restApiEvent,
} from './lambda-events.ts';
import { createUrlReceiver } from './url-receiver.ts';

/** The delivery that an event becomes. */
async function deliveryOf(event: LambdaEvent): Promise<Delivery | undefined> {
  const { receiver, deliveries } = createUrlReceiver();
  await toLambda(receiver)(event);
  return deliveries[0];
}

const requestFor = (target: string) => ({ method: 'POST', target, headers: [], body: Buffer.from('{}') });
const SENT = '/a%2Fb/%C3%A9?b=x%2f+y&a=2&b=3&c';

// The five ways in which AWS hands over one target.
test.each([
  ['a REST API decodes and groups the query', restApiEvent, '/a%2Fb/%C3%A9?b=x%2F%20y&b=3&a=2&c='],
  ['an HTTP API decodes the path', httpApiEvent, '/a/b/%C3%A9?b=x%2f+y&a=2&b=3&c'],
  ['a function URL keeps all', functionUrlEvent, SENT],
  ['a load balancer passes on the last of each name', loadBalancerEvent, '/a%2Fb/%C3%A9?b=3&a=2&c='],
  ['with multi-value headers it passes on all', multiValueEvent, '/a%2Fb/%C3%A9?b=x%2f+y&b=3&a=2&c='],
])('the url is the nearest to the one that was sent: %s', async (_, toEvent, expected) => {
  expect((await deliveryOf(toEvent(requestFor(SENT))))?.url).toBe(expected);
});

const rest = restApiEvent(requestFor('/webhooks'));

test.each<[name: string, event: object, url: string | undefined]>([
  ['the stage of a REST API', { ...rest, requestContext: { path: '/live/webhooks' } }, '/live/webhooks'],
  ['no path in the context', { ...rest, requestContext: undefined }, '/webhooks'],
  ['no path', { httpMethod: 'POST' }, undefined],
  ['a path that is not a text', { httpMethod: 'POST', path: 5 }, undefined],
  [
    'decoded characters that would end or break the path',
    { ...httpApiEvent(requestFor('/')), rawPath: '/a?b#c 100%/%41/\ud800\n' },
    '/a%3Fb%23c%20100%25/%41/%EF%BF%BD%0A',
  ],
  ['one value of each parameter', { ...rest, queryStringParameters: { 'a b': '&' } }, '/webhooks?a%20b=%26'],
  ['parsed parameters', { ...rest, queryStringParameters: { a: { b: 1 }, c: null, d: '' } }, '/webhooks?d='],
])('an event has %s', async (_, event, expected) => {
  const delivery = await deliveryOf(event);
  expect([delivery?.method, delivery?.url]).toEqual(['POST', expected]);
});
