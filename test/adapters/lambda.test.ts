import type {
  ALBHandler,
  APIGatewayProxyHandler,
  APIGatewayProxyHandlerV2,
  Context,
  LambdaFunctionURLHandler,
} from 'aws-lambda';
import { ConfigurationError, createReceiver, type ReceiverOptions, type Report } from 'posthorn';
import { type LambdaContext, type LambdaEvent, type LambdaHandler, toLambda } from 'posthorn/lambda';
import { createEvent, signedHeaders } from 'posthorn/testing';
import { describe, expect, test } from 'vitest';
import { createMapDeadLetters } from '../support/map-dead-letters.ts';
import { eventAt } from '../support/open-endpoint.ts';
import { KEY } from '../support/served.ts';
import { MINUTE_MS, StepClock } from '../support/step-clock.ts';
import { unanswered } from '../support/unanswered.ts';
import { ownCases } from './conformance.ts';
import {
  functionUrlEvent,
  type GatewayRequest,
  httpApiEvent,
  loadBalancerEvent,
  multiValueEvent,
  restApiEvent,
} from './lambda-events.ts';
import { behind, differentGateways } from './lambda-gateway.ts';
import { casesFor, onLambda } from './our-adapters.ts';

describe.each(differentGateways)('toLambda behind %s', (name, gateway) => {
  const own = ownCases(behind(gateway), { wholeBodiesOnly: true });
  // Most of them wait for time limits, and each has a server of its own.
  for (const each of [...casesFor(onLambda([name, gateway])), ...own]) test.concurrent(each.name, each.run);
});

/** A handler of Lambda that takes every type, with what it reported. */
function create(
  options: Partial<ReceiverOptions<Record<never, never>>> = {},
  handle: () => unknown = () => {},
) {
  const reports: Report[] = [];
  const handled: string[] = [];
  const receiver = createReceiver({ signingKey: KEY, ...options }).observe((report) => reports.push(report));
  receiver.on('*', (event) => {
    handled.push(event.id);
    return handle();
  });
  return { handler: toLambda(receiver), reports, handled };
}

function requestOf(
  event: object,
  more: GatewayRequest['headers'] = [],
  target = '/webhooks',
): GatewayRequest {
  const body = Buffer.from(JSON.stringify(event));
  const headers = Object.entries(signedHeaders(body, { key: KEY }));
  return { method: 'POST', target, headers: [...headers, ...more], body };
}

describe('an event of Lambda', () => {
  const event = { ...createEvent('transfer.succeeded'), data: { note: 'Grüße 🎺' } };
  const request = requestOf(event);
  const json = { 'content-type': 'application/json' };
  const result = { statusCode: 200, body: JSON.stringify({ outcome: 'processed', id: event.id }) };
  const isText = { isBase64Encoded: false };
  const shapes: readonly [string, LambdaEvent, object][] = [
    ['format 1.0', restApiEvent(request), { ...result, ...isText, headers: json }],
    ['format 2.0', httpApiEvent(request), { ...result, ...isText, headers: json }],
    ['a function URL', functionUrlEvent(request), { ...result, ...isText, headers: json }],
    [
      'a load balancer',
      loadBalancerEvent(request),
      { ...result, ...isText, statusDescription: '200 OK', headers: json },
    ],
    [
      'a load balancer with multi-value headers',
      multiValueEvent(request),
      {
        ...result,
        ...isText,
        statusDescription: '200 OK',
        multiValueHeaders: { 'content-type': ['application/json'] },
      },
    ],
  ];

  test.each(shapes)('of %s is handled, and answered in its form', async (_, shape, expected) => {
    expect(shape.isBase64Encoded).toBe(false);
    const { handler, handled } = create();
    expect(await handler(shape, {})).toEqual(expected);
    expect(handled).toEqual([event.id]);
  });

  test.each(shapes)('of %s with a body in base64 is handled', async (_, { ...shape }, expected) => {
    const { handler } = create();
    const body = request.body.toString('base64');
    expect(await handler({ ...shape, body, isBase64Encoded: true }, {})).toEqual(expected);
  });

  test.each(shapes)('of %s is refused with the reason', async (_, { body, ...shape }) => {
    const { handler, reports } = create();
    const refused = await handler({ ...shape, body: `${body} ` }, {});
    expect([refused.statusCode, JSON.parse(refused.body).code]).toEqual([403, 'signature_mismatch']);
    expect(reports).toMatchObject([{ outcome: 'rejected', answerSent: true }]);
  });

  test.each([null, undefined, ''])('without a body (%j) has an empty one', async (body) => {
    const { handler } = create();
    const signature = signedHeaders('', { key: KEY });
    const answer = await handler({
      ...restApiEvent(request),
      multiValueHeaders: null,
      headers: signature,
      body,
    });
    expect([answer.statusCode, JSON.parse(answer.body).code]).toEqual([400, 'body_not_json']);
  });

  test('that says base64 of what is none is refused', async () => {
    const { handler } = create();
    const { statusCode } = await handler({ ...restApiEvent(request), isBase64Encoded: true });
    expect(statusCode).toBe(403);
  });

  test('has a header twice where the one value of it would pass', async () => {
    const { handler, reports } = create();
    const [, signature = ''] = request.headers.find(([name]) => name === 'x-service-signature') ?? [];
    const twice = restApiEvent(requestOf(event, [['X-Service-Signature', signature]]));
    expect(Object.values(twice.headers)).toContain(signature);
    expect((await handler(twice)).statusCode).toBe(403);
    expect(reports).toMatchObject([{ code: 'signature_repeated' }]);
  });

  const spellings = [
    (name: string) => name,
    (name: string) => name.replace(/(^|-)[a-z]/g, (start) => start.toUpperCase()),
    (name: string) => name.toUpperCase(),
  ];
  /** Values of each header in one of the objects; once, not at all, or twice. */
  const forms: readonly [times: number, form: (value: string) => unknown][] = [
    [1, (value) => value],
    [1, (value) => [value]],
    [0, () => null],
    [0, () => []],
    [2, (value) => [value, value]],
  ];

  test.each(forms)(
    'has headers in both objects, in any spelling, those in the first %i times',
    async (times, form) => {
      const authentication = { type: 'BEARER', bearer: { token: 't' } } as const;
      const sent = Object.entries(signedHeaders(request.body, { key: KEY, authentication }));
      for (const spell of spellings)
        for (const [timesInOther, formInOther] of forms)
          for (const spellInOther of spellings) {
            const multiValueHeaders = Object.fromEntries(
              sent.map(([name, value]) => [spell(name), form(value)]),
            );
            const others = sent.map(([name, value]) => [spellInOther(name), formInOther(value)]);
            const shape = {
              ...restApiEvent(request),
              multiValueHeaders,
              headers: Object.fromEntries(others),
            };
            const { handler } = create({ authentication });
            const { statusCode } = await Reflect.apply(handler, undefined, [shape, {}]);
            expect(statusCode, JSON.stringify(shape)).toBe((times || timesInOther) === 1 ? 200 : 401);
          }
    },
  );

  test('whose body middleware has parsed is answered 500, with what to leave out', async () => {
    const { handler, reports, handled } = create();
    const parsed = { ...restApiEvent(request), body: event };
    expect((await Reflect.apply(handler, undefined, [parsed, {}])).statusCode).toBe(500);
    expect(reports).toMatchObject([{ outcome: 'failed', code: 'body_already_parsed' }]);
    expect(reports[0]?.error).toBeInstanceOf(ConfigurationError);
    expect(reports[0]?.error?.message).toMatch(/event\.body.*Object.*httpJsonBodyParser/);
    expect(handled).toEqual([]);
  });
});

describe('an event that is not an HTTP request rejects, so that its source learns of it:', () => {
  const arn = 'arn:aws:sqs:eu-central-1:123456789012:webhooks';
  const wrong: readonly [string, unknown, RegExp][] = [
    [
      'SQS',
      { Records: [{ messageId: '1', body: '{}', eventSource: 'aws:sqs', eventSourceARN: arn }] },
      /"aws:sqs"/,
    ],
    [
      'SNS',
      { Records: [{ EventSource: 'aws:sns', EventVersion: '1.0', Sns: { Message: '{}' } }] },
      /"aws:sns"/,
    ],
    ['S3', { Records: [{ eventVersion: '2.1', eventSource: 'aws:s3', s3: {} }] }, /"aws:s3"/],
    [
      'EventBridge',
      { version: '0', source: 'aws.events', 'detail-type': 'Scheduled Event', detail: {} },
      /"aws.events"/,
    ],
    [
      'a WebSocket API',
      { requestContext: { routeKey: '$default', eventType: 'MESSAGE', connectionId: 'a=' }, body: '{}' },
      /WebSocket/,
    ],
    [
      'VPC Lattice',
      { raw_path: '/', method: 'POST', headers: {}, body: '{}' },
      /"raw_path, method, headers, body"/,
    ],
    [
      'the body alone, without proxy integration',
      createEvent('dispute.won'),
      /the members "id, type, created_at, data"/,
    ],
    ['an empty object', {}, /an object with the members ""/],
    ['undefined', undefined, /got undefined$/],
    ['null', null, /got null$/],
    ['a text', '{"httpMethod":"POST"}', /got string$/],
    ['an httpMethod that is none', { httpMethod: 5 }, /httpMethod/],
  ];
  test.each(wrong)('%s', async (_, event, named) => {
    const { handler, reports, handled } = create();
    const failure = await Promise.resolve(Reflect.apply(handler, undefined, [event, {}])).catch(
      (error) => error,
    );
    expect(failure).toBeInstanceOf(ConfigurationError);
    expect(failure.code).toBe('configuration_invalid');
    expect(failure.message).toMatch(/API Gateway.*Application Load Balancer.*function URL/);
    expect(failure.message).toMatch(named);
    expect([reports, handled]).toEqual([[], []]);
  });
});

describe('the handler', () => {
  test('has two parameters: Node.js 24 on Lambda refuses to start one with three', () => {
    expect(create().handler).toHaveLength(2);
  });

  test('takes a receiver only', () => {
    expect(() => Reflect.apply(toLambda, undefined, [{}])).toThrow(/^toLambda takes a receiver.*got Object$/);
  });

  test('fits each type of handler of @types/aws-lambda, and calls by hand', async () => {
    const { handler } = create();
    const fitting: readonly [
      APIGatewayProxyHandler,
      APIGatewayProxyHandlerV2,
      ALBHandler,
      LambdaFunctionURLHandler,
    ] = [handler, handler, handler, handler];
    const contexts: readonly LambdaContext[] = [{} as Context, {}];
    expect([...fitting, ...contexts]).toHaveLength(6);
    // @ts-expect-error a number of milliseconds
    const wrong: LambdaContext = { getRemainingTimeInMillis: () => '3000' };
    expect(wrong).toBeDefined();
  });
});

describe('the remaining time of the function', () => {
  const remaining = (ms: number): LambdaContext => ({ getRemainingTimeInMillis: () => ms });

  /** Handles an event that no handler ever ends. */
  async function hang(
    context: Parameters<LambdaHandler>[1],
    options: Partial<ReceiverOptions<Record<never, never>>> = {},
    event: object = createEvent('transfer.succeeded'),
  ) {
    const { handler, reports } = create(options, unanswered);
    const { statusCode, body } = await handler(httpApiEvent(requestOf(event)), context);
    return { statusCode, ...JSON.parse(body), durationMs: reports[0]?.durationMs };
  }

  test('is unknown where the context has no function that tells it', async () => {
    const { handler } = create({}, () => {});
    const context = JSON.parse('{"getRemainingTimeInMillis":5}');
    const event = httpApiEvent(requestOf(createEvent('transfer.succeeded')));
    expect(await handler(event, context)).toMatchObject({ statusCode: 200 });
  });

  test('shortens the deadline, less 500 ms', async () => {
    const { code, durationMs } = await hang(remaining(700));
    expect(code).toBe('deadline_reached');
    expect(durationMs).toBeGreaterThan(150);
    expect(durationMs).toBeLessThan(5_000);
  });

  test.each([
    ['more than deadlineMs', remaining(900_000)],
    ['no end', remaining(Number.POSITIVE_INFINITY)],
    ['no context', undefined],
    ['a context that does not tell', {}],
  ])('does not lengthen it: %s', async (_, context) => {
    const { code, durationMs } = await hang(context, { deadlineMs: 100 });
    expect(code).toBe('deadline_reached');
    expect(durationMs).toBeLessThan(5_000);
  });

  test.each([500, 3, 0, -40])('that is over is answered at once: %d', async (ms) => {
    expect(await hang(remaining(ms))).toMatchObject({ statusCode: 503, code: 'deadline_reached' });
  });

  test('that is not a number is answered 500', async () => {
    const { handler } = create();
    const { statusCode } = await handler(
      httpApiEvent(requestOf(createEvent('dispute.won'))),
      remaining(Number.NaN),
    );
    expect(statusCode).toBe(500);
  });

  test('that is a promise, whatever becomes of it, is answered 500', async () => {
    const { handler, reports } = create({}, () => {});
    const event = httpApiEvent(requestOf(createEvent('transfer.succeeded')));
    const context = { getRemainingTimeInMillis: () => Promise.reject(new Error('no runtime')) };
    expect(await Reflect.apply(handler, undefined, [event, context])).toMatchObject({ statusCode: 500 });
    expect(reports[0]?.error?.message).toContain('timeLimitMs of a delivery must be a number');
  });

  test('parks a last attempt before it is over', async () => {
    const clock = new StepClock();
    const event = eventAt(clock.startedAt);
    clock.moveTo(15 * MINUTE_MS);
    const deadLetters = createMapDeadLetters();
    const options = { deadLetters, now: clock.now };
    expect(await hang(remaining(1_200), options, event)).toMatchObject({
      statusCode: 200,
      outcome: 'parked',
    });
    expect(await deadLetters.get(event.id)).toMatchObject({ runningUntil: expect.any(Number) });
  });
});
