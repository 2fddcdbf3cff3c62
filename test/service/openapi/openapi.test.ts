import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Validator } from '@seriousme/openapi-schema-validator';
import { describe, expect, test } from 'vitest';
import { createOpenApiDocument } from '../../../src/service/openapi/document.ts';
import type { Operation } from '../../../src/service/openapi/operation.ts';
import { packageRoot } from '../../support/child-program.ts';

const text = readFileSync(join(packageRoot, 'openapi.json'), 'utf8');
const document = createOpenApiDocument();

/** Every operation as `METHOD path`. */
function operations(items: object): [string, Operation][] {
  return Object.entries(items).flatMap(([path, item]) =>
    Object.entries<Operation>(item).map(([method, operation]): [string, Operation] => [
      `${method.toUpperCase()} ${path}`,
      operation,
    ]),
  );
}

const ofPaths = new Map(operations(document.paths));
const ofWebhooks = new Map(operations(document.webhooks));
const operation = (name: string): Operation => {
  const found = ofPaths.get(name) ?? ofWebhooks.get(name);
  if (found === undefined) throw new Error(`no ${name}`);
  return found;
};

describe('the OpenAPI document', () => {
  test('is committed as it is generated: `npm run openapi` writes it', () => {
    expect(text).toBe(`${JSON.stringify(document, null, 2)}\n`);
  });

  test('is valid OpenAPI 3.1 by a public validator, which refuses a broken one', async () => {
    const validator = new Validator();
    expect(await validator.validate(JSON.parse(text))).toEqual({ valid: true });
    expect(validator.version).toBe('3.1');
    const { info: _, ...broken } = JSON.parse(text);
    expect(await new Validator().validate(broken)).toMatchObject({ valid: false });
  });

  test('points to nothing that is not there', () => {
    const pointers = new Set(Array.from(text.matchAll(/"\$ref": "([^"]*)"/g), ([, pointer]) => pointer));
    const schemas = Object.keys(document.components.schemas).map((name) => `#/components/schemas/${name}`);
    expect(pointers.size).toBeGreaterThan(30);
    expect([...pointers].filter((pointer) => !schemas.includes(String(pointer)))).toEqual([]);
  });

  test('names its operations uniquely, and tags and secures them with what is declared', () => {
    const all = [...ofPaths.values(), ...ofWebhooks.values()];
    expect(new Set(all.map(({ operationId }) => operationId)).size).toBe(all.length);
    const tags = document.tags.map(({ name }) => name);
    expect(all.flatMap((one) => one.tags).filter((tag) => !tags.includes(tag))).toEqual([]);
    const schemes = all.flatMap(({ security }) => security.flatMap((choice) => Object.keys(choice)));
    expect(new Set(schemes)).toEqual(new Set(Object.keys(document.components.securitySchemes)));
  });
});

test('what is said of an amount of an event is what the interface says: it is an integer', () => {
  const { EventData } = JSON.parse(text).components.schemas;
  expect(EventData.properties.amount).toEqual({
    type: 'integer',
    description: 'Its unit and its currency are not documented',
    'x-posthorn-assumptions': ['the unit and the currency of `data.amount`'],
  });
});

describe('the paths', () => {
  test('are those of the interface, with their methods', () => {
    expect([...ofPaths.keys()].sort()).toEqual(
      [
        'POST /banking/us2/v1/transaction/fxQuote',
        'GET /banking/us2/v1/transaction/fxQuote/id/{fxQuoteId}',
        'POST /banking/echecks/apiServices/uploadChecks.php',
        'POST /banking/ibans/v2/users/login',
        'GET /banking/ibans/v2/profile/v2.1/purpose',
        'GET /banking/ibans/v2/profile/v2.1/currencies',
        'POST /payments/na/webhooks',
        'GET /payments/na/webhooks',
        'PUT /payments/na/webhooks/{webhook_id}',
        'GET /payments/na/webhooks/{webhook_id}',
      ].sort(),
    );
  });

  test.each([
    ['GET /banking/us2/v1/transaction/fxQuote/id/{fxQuoteId}', 'path', 'fxQuoteId', true],
    ['POST /banking/echecks/apiServices/uploadChecks.php', 'query', 'GetChecksByMerchantTransID', true],
    ['GET /payments/na/webhooks', 'query', 'limit', undefined],
    ['PUT /payments/na/webhooks/{webhook_id}', 'path', 'webhook_id', true],
    ['GET /payments/na/webhooks/{webhook_id}', 'path', 'webhook_id', true],
  ])('%s takes the %s parameter %s', (name, place, parameter, required) => {
    const found = operation(name).parameters?.find((one) => 'name' in one && one.name === parameter);
    expect(found).toMatchObject({ in: place, ...(required && { required }) });
  });

  test('the limit of a list is 10 by default and 100 at most', () => {
    expect(operation('GET /payments/na/webhooks').parameters).toContainEqual(
      expect.objectContaining({
        name: 'limit',
        schema: { type: 'integer', minimum: 1, maximum: 100, default: 10 },
      }),
    );
  });

  test.each([
    ['/banking/us2/', [{ bankingToken: [], bankingApiKey: [] }]],
    ['/banking/echecks/', [{ bankingToken: [], bankingApiKey: [] }]],
    ['/banking/ibans/v2/profile/', [{ accessToken: [] }]],
    ['/banking/ibans/v2/users/login', []],
    ['/payments/na/webhooks', [{ administrator: [] }]],
  ])('below %s the security is as written', (prefix, security) => {
    const found = [...ofPaths].filter(([name]) => name.split(' ')[1]?.startsWith(prefix));
    expect(found.length).toBeGreaterThan(0);
    for (const [, one] of found) expect(one.security).toEqual(security);
  });

  test('the schemes are those of the interface', () => {
    expect(document.components.securitySchemes).toMatchObject({
      bankingToken: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
      bankingApiKey: { type: 'apiKey', in: 'header', name: 'x-api-key' },
      accessToken: { type: 'http', scheme: 'bearer' },
      administrator: { type: 'http', scheme: 'basic' },
    });
  });

  test('the errors of an update are those of the interface', () => {
    const { responses } = operation('PUT /payments/na/webhooks/{webhook_id}');
    const shown = (status: string): string => JSON.stringify(responses[status]);
    expect(shown('404')).toContain('{"status":404,"message":"Webhook not found"}');
    expect(shown('400')).toContain(
      '{"status":400,"message":"Invalid URL","details":"URL must use the HTTPS protocol"}',
    );
    expect(shown('400')).toContain(
      '{"status":400,"message":"Invalid authentication configuration","details":"Basic authentication requires username and password"}',
    );
    expect(shown('400')).toContain('"message":"Invalid enabled_events"');
  });

  test.each([
    ['POST /banking/us2/v1/transaction/fxQuote', 'expires 30 seconds after'],
    ['GET /banking/ibans/v2/profile/v2.1/purpose', '17 entries, ids 3 to 19'],
    ['GET /payments/na/webhooks', '10 by default, at most 100'],
    ['PUT /payments/na/webhooks/{webhook_id}', 'replaces the whole list'],
  ])('%s says: %s', (name, words) => {
    expect(JSON.stringify(operation(name))).toContain(words);
  });
});

describe('the webhooks', () => {
  test('are the event types of the interface', () => {
    expect(Object.keys(document.webhooks).sort()).toEqual(
      [
        ...['transfer.created', 'transfer.succeeded', 'transfer.failed', 'transfer.updated'],
        ...['merchant.created', 'merchant.updated'],
        ...['merchant.verification.succeeded', 'merchant.verification.failed'],
        ...['payment_instrument.created', 'payment_instrument.updated'],
        ...['payment_instrument.verification.succeeded', 'payment_instrument.verification.failed'],
        ...['settlement.created', 'settlement.approved', 'settlement.funding_transfer.created'],
        ...['settlement.funding_transfer.succeeded', 'settlement.funding_transfer.failed'],
        ...['subscription.created', 'subscription.updated', 'subscription.canceled', 'subscription.expired'],
        ...['dispute.created', 'dispute.updated', 'dispute.won', 'dispute.lost'],
      ].sort(),
    );
    expect(ofWebhooks.size).toBe(25);
  });

  test('are POSTs with the signature, the credentials of the webhook or none, and any answer from 200 to 299', () => {
    for (const [name, one] of ofWebhooks) {
      expect(name).toMatch(/^POST /);
      expect(one.parameters).toEqual([
        expect.objectContaining({ name: 'x-service-signature', in: 'header', required: true }),
      ]);
      expect(one.security).toEqual([{}, { webhookBasic: [] }, { webhookBearer: [] }]);
      expect(Object.keys(one.responses)).toEqual(['2XX', 'default']);
    }
    expect(document.components.securitySchemes).toMatchObject({
      webhookBasic: { type: 'http', scheme: 'basic' },
      webhookBearer: { type: 'http', scheme: 'bearer' },
    });
  });

  test('say the limits of a delivery', () => {
    const { description } = document.tags.find(({ name }) => name === 'Events') ?? {};
    for (const limit of ['200 to 299', 'within 30 seconds', 'up to 3 times', 'after 1, 5 and 15 minutes']) {
      expect(description).toContain(limit);
    }
  });
});
