import { type types, verifySlackRequest } from '@slack/bolt';
import { createReceiver, type DeadLetter, type EventIdentity, type Report } from 'posthorn';
import { slack } from 'posthorn/providers';
import { createEvent, signedHeaders } from 'posthorn/testing';
import { describe, expect, expectTypeOf, test } from 'vitest';
import { createMapDeadLetters } from '../support/map-dead-letters.ts';

const key = '8f742231b10e8888abcd99yyyzzz85a5';

/** Delivers a body that is signed as Slack signs it. */
async function received(body: string | object, headers: Record<string, string> = {}) {
  const reports: Report[] = [];
  const identities: EventIdentity[] = [];
  const events: object[] = [];
  const letters = new Map<string, DeadLetter>();
  const provider = slack();
  const receiver = createReceiver({ provider, signingKey: key, deadLetters: createMapDeadLetters(letters) });
  receiver
    .observe((report) => reports.push(report))
    .on('*', (event, context) => {
      events.push(event);
      identities.push(context.event);
    });
  const rawBody = typeof body === 'string' ? body : JSON.stringify(body);
  const answer = await receiver.receive({
    method: 'POST',
    headers: { ...signedHeaders(rawBody, { provider, key }), ...headers },
    readBody: () => rawBody,
  });
  return {
    answer: JSON.parse(String(answer.body)),
    error: reports[0]?.error,
    warnings: reports[0]?.warnings.filter((warning) => warning.startsWith('deadline')),
    events,
    identity: identities[0],
    letters: [...letters.values()],
  };
}

describe('slack()', () => {
  const event = { type: 'message', subtype: 'message_changed', channel: 'C1', event_ts: '1465244570.336841' };
  const callback = {
    team_id: 'T1',
    api_app_id: 'A1',
    event,
    type: 'event_callback',
    event_id: 'Ev1',
    event_time: Math.floor(Date.now() / 1_000) - 60,
  };
  const limit = {
    type: 'app_rate_limited',
    team_id: 'T1',
    api_app_id: 'A1',
    minute_rate_limited: Math.floor(Date.now() / 60_000) * 60,
  };

  test('has the limit and the retries that Slack publishes, and needs a queue', async () => {
    const retries = [1_000, 60_000, 300_000];
    expect(slack()).toMatchObject({ answerWithinMs: 3_000, retries, cutsOff: true });
    const { warnings } = await received(callback);
    expect(warnings).toEqual([
      expect.stringMatching(/^deadline_short: slack waits 3 s .* handlers have 2\.5 s without a queue/),
    ]);
  });

  test('hands a callback over, with the id and the type of the event inside', async () => {
    const { events, identity } = await received(callback, { 'x-slack-retry-num': '1' });
    expect(events).toEqual([{ ...callback, id: 'Ev1', type: 'message' }]);
    const createdAtMs = callback.event_time * 1_000;
    expect(identity).toMatchObject({ id: 'Ev1', type: 'message', createdAtMs, provider: 'slack' });
  });

  test('makes the id of app_rate_limited, which has none', async () => {
    const { events, identity } = await received(limit);
    const id = `app_rate_limited:A1:T1:${limit.minute_rate_limited}`;
    expect(events).toEqual([{ ...limit, id, event: limit }]);
    expect(identity).toMatchObject({ id, type: limit.type, createdAtMs: limit.minute_rate_limited * 1_000 });
  });

  test.each([undefined, null, 1e300, '1465244570'])('takes the time %j for none', async (event_time) => {
    const { answer, identity } = await received({ ...callback, event_time });
    expect(answer.outcome).toBe('processed');
    expect(identity?.createdAtMs).toBeUndefined();
  });

  test('answers the test of a new URL, and only that', async () => {
    const question = { token: 't', challenge: '3eZbrw1aB', type: 'url_verification' };
    expect((await received(question)).answer).toEqual({ challenge: '3eZbrw1aB' });
    const text = { ...callback, event: { ...event, text: 'url_verification' } };
    expect((await received(text)).answer).toEqual({ outcome: 'processed', id: 'Ev1' });
  });

  const form = { 'content-type': 'application/x-www-form-urlencoded' };
  test.each([
    {
      body: 'payload=%7B%7D',
      headers: form,
      code: 'body_not_json',
      says: 'the body is a form: slash commands',
    },
    {
      body: 'command=%2Ftodo&text=url_verification',
      headers: form,
      code: 'body_not_json',
      says: 'the body is a form: slash commands',
    },
    { body: 'payload=%7B%7D', code: 'body_not_json', says: 'the body is not JSON' },
    { body: { type: 'url_verification' }, says: 'must have event_id and event.type' },
    { body: { ...limit, team_id: undefined }, says: 'must have event_id and event.type' },
    { body: { ...callback, event: {} }, says: 'must have event_id and event.type', id: 'Ev1' },
    { body: { ...callback, event: null }, says: 'must have event_id and event.type', id: 'Ev1' },
  ])('parks $body', async ({ body, headers, code = 'envelope_invalid', says, id }) => {
    const { answer, error, events, letters } = await received(body, headers);
    expect(answer).toMatchObject({ outcome: 'parked' });
    expect(events).toEqual([]);
    expect(error).toMatchObject({ message: expect.stringContaining(says) });
    expect(letters).toMatchObject([{ provider: 'slack', reason: code, ...(id && { eventId: id }) }]);
  });

  test.each([
    { options: { name: '' }, says: 'name of the provider' },
    { options: { answerWithinMs: 0 }, says: 'answerWithinMs' },
    { options: { retries: [0] }, says: 'retries' },
    { options: { signingSecret: '' }, says: '"signingSecret" is not an option of slack' },
  ])('refuses $options', ({ options, says }) => {
    expect(() => slack(options)).toThrow(says);
  });
});

test("createEvent and signedHeaders make what Slack's package accepts", () => {
  const provider = slack();
  const event = createEvent('app_mention', { user: 'U1', text: 'hello' }, { provider });
  expect(event).toMatchObject({ type: 'event_callback', event: { type: 'app_mention', text: 'hello' } });
  const body = JSON.stringify(event);
  const headers = signedHeaders(body, { provider, key });
  const sent = {
    'x-slack-signature': headers['x-slack-signature'] ?? '',
    'x-slack-request-timestamp': Number(headers['x-slack-request-timestamp']),
  };
  expect(() => verifySlackRequest({ signingSecret: key, body, headers: sent })).not.toThrow();
  expect(() => verifySlackRequest({ signingSecret: 'other', body, headers: sent })).toThrow('mismatch');
});

test("the types of slack() come from Slack's package, or are the least that every event has", () => {
  const typed = createReceiver({ provider: slack<types.SlackEvent>(), signingKey: key, deadlineMs: 2_500 });
  typed.on('app_mention', ({ event }) => {
    expectTypeOf(event.text).toEqualTypeOf<string>();
  });
  // @ts-expect-error No event of Slack has this type.
  typed.on('app_mentioned', () => {});
  createReceiver({ provider: slack(), signingKey: key }).on('app_mention', ({ event, team_id }) => {
    expectTypeOf(event.text).toBeUnknown();
    expectTypeOf(team_id).toEqualTypeOf<string>();
  });
});
