import { sign, verify } from '@octokit/webhooks-methods';
import { createReceiver, type DeadLetter, type Report } from 'posthorn';
import { type GitHubEvent, type GitHubOptions, github } from 'posthorn/providers';
import { createEvent, deliver, signedHeaders } from 'posthorn/testing';
import { describe, expect, expectTypeOf, test, vi } from 'vitest';
import { createMapDeadLetters } from '../support/map-dead-letters.ts';
import { post, serve } from '../support/served.ts';

const key = 'secret of the tests';
const id = '72d3162e-cc78-11e3-81ab-4c9367dc0958';
const FORM = 'application/x-www-form-urlencoded';

/** A receiver behind a socket, and GitHub, whose own package signs. */
async function open(options: GitHubOptions = {}, pattern = '*') {
  const events: GitHubEvent[] = [];
  const letters = new Map<string, DeadLetter>();
  const reports: Report[] = [];
  const state = { fails: false };
  const deadLetters = createMapDeadLetters(letters);
  const receiver = createReceiver({ provider: github(options), signingKey: key, deadLetters });
  receiver
    .observe((report) => reports.push(report))
    .on(pattern, (event) => {
      if (state.fails) throw new Error('it fails');
      events.push(event);
    });
  const url = await serve(receiver);
  const send = async (body: string, headers: Readonly<Record<string, string | undefined>> = {}) => {
    const own = { 'content-type': 'application/json', 'x-github-delivery': id, 'x-github-event': 'issues' };
    const signature = { 'x-hub-signature-256': await sign(key, body) };
    const sent = Object.entries({ ...own, ...signature, ...headers }).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, value]],
    );
    const answer = await post(url, body, Object.fromEntries(sent));
    return { ...answer, body: JSON.parse(answer.body) };
  };
  return { events, letters, reports, state, send };
}

/** A payload as GitHub writes it into a form. */
const form = (payload: object): string =>
  new URLSearchParams({ payload: JSON.stringify(payload) }).toString();

describe('github()', () => {
  const payload = { action: 'opened', issue: { title: 'Größe + 10 % & mehr' } };

  test.each([
    { name: 'issues', payload, type: 'issues.opened' },
    { name: 'push', payload: { ref: 'refs/heads/main' }, type: 'push' },
    { name: 'custom', payload: { action: '' }, type: 'custom' },
    { name: 'custom', payload: { action: 5 }, type: 'custom' },
  ])('hands over $payload as $type', async ({ name, payload: sent, type }) => {
    const { events, reports, send } = await open();
    await send(JSON.stringify(sent), { 'x-github-event': name });
    expect(events).toEqual([{ id, name, type, payload: sent }]);
    expect(reports).toMatchObject([{ outcome: 'processed', provider: 'github', event: { id, type } }]);
  });

  test.each([FORM, `${FORM.toUpperCase()}; charset=utf-8`])('reads the form of %s', async (contentType) => {
    const { events, send } = await open();
    await send(form(payload), { 'content-type': contentType });
    expect(events).toEqual([{ id, name: 'issues', type: 'issues.opened', payload }]);
  });

  test.each([
    { body: 'data=1', headers: { 'content-type': FORM } },
    { body: 'payload=1%', headers: { 'content-type': FORM } },
    { body: 'payload=%7B%22a%22%3A%22%FF%22%7D', headers: { 'content-type': FORM } },
    { body: JSON.stringify(payload), headers: { 'content-type': FORM } },
    { body: form(payload), headers: {} },
    { body: 'opened', headers: { 'content-type': 'text/plain' } },
  ])('parks $body with $headers, and names the way out', async ({ body, headers }) => {
    const { letters, reports, send } = await open();
    expect(await send(body, headers)).toMatchObject({ status: 200, body: { outcome: 'parked', id } });
    expect([...letters.values()]).toMatchObject([{ eventId: id, provider: 'github' }]);
    const message = expect.stringContaining('set the content type to application/json');
    expect(reports).toMatchObject([{ code: 'body_not_json', error: { message } }]);
  });

  test.each([
    { header: 'x-github-event', members: { eventId: id } },
    { header: 'x-github-delivery', members: {} },
  ])('parks an event without $header', async ({ header, members }) => {
    const { letters, reports, send } = await open();
    await send(JSON.stringify(payload), { [header]: undefined });
    expect([...letters.values()]).toMatchObject([{ provider: 'github', ...members }]);
    const message = `the header "${header}" is missing`;
    expect(reports).toMatchObject([{ outcome: 'parked', error: { message } }]);
  });

  test('refuses a request that has the signature of SHA-1 only, and names what is missing', async () => {
    const { reports, send } = await open();
    const signature = { 'x-hub-signature-256': undefined, 'x-hub-signature': `sha1=${'0'.repeat(40)}` };
    expect(await send('{}', signature)).toMatchObject({ status: 403 });
    const message = 'the header "x-hub-signature-256" is missing; "x-hub-signature" was sent';
    expect(reports).toMatchObject([{ code: 'signature_missing', error: { message } }]);
  });

  test('answers 200 to a ping without a handler', async () => {
    const { send } = await open({}, 'push');
    const answer = await send('{"zen":"Design for failure.","hook_id":1}', { 'x-github-event': 'ping' });
    expect(answer).toMatchObject({ status: 200, body: { outcome: 'ignored', id } });
  });

  test('parks each failure, and a redelivery that is handled takes the dead letter away', async () => {
    const { events, letters, reports, send, state } = await open();
    state.fails = true;
    const body = JSON.stringify(payload);
    expect(await send(body)).toMatchObject({ status: 200, body: { outcome: 'parked' } });
    expect(letters.size).toBe(1);
    state.fails = false;
    for (const outcome of ['processed', 'duplicate'])
      expect(await send(body)).toMatchObject({ status: 200, body: { outcome } });
    expect([events.length, letters.size]).toEqual([1, 0]);
    expect(reports[0]).toMatchObject({ final: true, endpointAtRisk: false });
  });

  test('takes bodies up to 25 MB, and logs that a lower limit loses events', async () => {
    expect(github()).toMatchObject({ maxBodyBytes: 26_214_400, answerWithinMs: 10_000 });
    const { maxBodyBytes = 0 } = github();
    const body = JSON.stringify({ ref: 'x'.repeat(maxBodyBytes - '{"ref":""}'.length) });
    const { send } = await open();
    expect(await send(body, { 'x-github-event': 'push' })).toMatchObject({ status: 200 });
    const log = vi.spyOn(console, 'error').mockImplementation(() => {});
    const receiver = createReceiver({ provider: github(), signingKey: key, maxBodyBytes: 1_048_576 });
    receiver.on('push', () => {});
    const event = { id, type: 'push' };
    const { status } = await deliver(await serve(receiver), body.slice(0, 2_000_000), {
      provider: github(),
      key,
      event,
    });
    expect([status, log.mock.calls.join('\n')]).toEqual([
      413,
      expect.stringContaining('github sends bodies up to 26214400 bytes: raise maxBodyBytes'),
    ]);
  });

  test.each([
    { options: { name: '' }, says: 'name of the provider' },
    { options: { answerWithinMs: 0 }, says: 'answerWithinMs' },
    { options: { retries: [0] }, says: 'retries' },
    { options: { maxBodyBytes: 0.5 }, says: 'maxBodyBytes' },
    { options: { secret: 's' }, says: '"secret" is not an option of github' },
  ])('refuses $options', ({ options, says }) => {
    expect(() => github(options)).toThrow(says);
  });
});

describe('the testing kit plays GitHub:', () => {
  const provider = github();

  test("its headers are those that GitHub's package accepts, and names of the event", async () => {
    const body = JSON.stringify(createEvent('issues.opened', { issue: { number: 1 } }, { provider }));
    expect(JSON.parse(body)).toEqual({ action: 'opened', issue: { number: 1 } });
    const headers = signedHeaders(body, { provider, key, event: { id, type: 'issues.opened' } });
    expect(headers).toMatchObject({ 'x-github-event': 'issues', 'x-github-delivery': id });
    expect(await verify(key, body, headers['x-hub-signature-256'] ?? '')).toBe(true);
    expect(() => signedHeaders(body, { provider, key })).toThrow('give { event: { id:');
  });

  test('an event that it creates is handled once', async () => {
    const receiver = createReceiver({ provider, signingKey: key }).observe(() => {});
    const types: string[] = [];
    receiver.on('*', ({ type, payload }) => types.push(`${type} of ${payload.repository?.full_name}`));
    for (const type of ['push', 'workflow_run.completed']) {
      const event = createEvent(type, undefined, { provider });
      for (const outcome of ['processed', 'duplicate'])
        expect(await (await deliver(receiver, event, { provider, key })).json()).toMatchObject({ outcome });
    }
    expect(types).toEqual(['push of octo/sample', 'workflow_run.completed of octo/sample']);
  });
});

test('the types of github() are those that a union names, or the least that many events have', () => {
  type Opened = GitHubEvent<'issues.opened', { readonly issue: { readonly title: string } }>;
  type Push = GitHubEvent<'push', { readonly ref: string }>;
  const typed = createReceiver({ provider: github<Opened | Push>(), signingKey: key });
  typed.on('issues.*', ({ payload }) => expectTypeOf(payload.issue.title).toBeString());
  // @ts-expect-error No event of the union has this type.
  typed.on('issues.closed', () => {});
  createReceiver({ provider: github(), signingKey: key }).on('issues.closed', ({ payload }) => {
    expectTypeOf(payload.repository?.full_name).toEqualTypeOf<string | undefined>();
    expectTypeOf(payload.issue).toBeUnknown();
  });
});
