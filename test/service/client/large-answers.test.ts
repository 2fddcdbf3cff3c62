import { gzipSync } from 'node:zlib';
import { type Client, ServiceError } from 'posthorn/client';
import { describe, expect, test } from 'vitest';
import { errorOf } from '../../support/error-of.ts';
import { type EndlessReply, openEndlessService } from './endless-service.ts';
import { webhook } from './literal-bodies.ts';
import { inTurn, json } from './literal-service.ts';
import { openClient, openClientOf } from './open-client.ts';
import { clientOf, failureOf, SIGNING_KEY } from './secrets.ts';

const MEBIBYTE = 1_048_576;
/** The limit, what the client holds beside it, and the buffers of two sockets. */
const MOST_SENT = 24 * MEBIBYTE;
const url = 'https://example.com/hooks';
const key = `"secret_signing_key":"${SIGNING_KEY}"`;

const read = ({ request }: Client) => request('GET', '/things', { credentials: 'none' });
const create = ({ webhooks }: Client) => webhooks.create({ url });

function signingKeyOf(error: unknown): string | undefined {
  return error instanceof ServiceError ? error.signingKey() : undefined;
}

describe('an answer without an end', () => {
  test.each<[string, EndlessReply]>([
    ['plain', {}],
    ['with a length that is longer than the limit', { headers: { 'content-length': 2 ** 40 } }],
  ])('is read up to the limit, and its connection ended: %s', async (_name, reply) => {
    const service = await openEndlessService(reply);
    expect(await failureOf(() => read(clientOf(service.url)))).toMatchObject({
      code: 'answer_too_large',
      status: 200,
      request: 'GET /things',
      message: expect.stringMatching(
        /^the answer to GET \/things is longer than 1048576 bytes.*maxAnswerBytes/,
      ),
    });
    await service.allEnded();
    expect(service.sentBytes()).toBeLessThan(MOST_SENT);
  });

  test('is sent for once: a second one would be as long', async () => {
    const service = await openEndlessService({});
    await failureOf(() => clientOf(service.url).webhooks.retrieve('WH1'));
    await service.allEnded();
    expect(service.sentBytes()).toBeLessThan(MOST_SENT);
  });

  test('that refuses is a refusal with its status', async () => {
    const service = await openEndlessService({ status: 400, first: '{"message":"Invalid URL","details":"' });
    expect(await failureOf(() => read(clientOf(service.url)))).toMatchObject({
      code: 'service_refused',
      status: 400,
      message: 'the service answered GET /things with 400',
    });
    await service.allEnded();
    expect(service.sentBytes()).toBeLessThan(MOST_SENT);
  });

  test('hands the signing key over that came with its beginning', async () => {
    const service = await openEndlessService({ status: 201, first: `{"id":"WH1",${key},` });
    const error = await failureOf(() => create(clientOf(service.url)));
    expect(error).toMatchObject(
      errorOf('answer_too_large', /check before you send it again.*signingKey\(\) of this error gives it$/),
    );
    expect(signingKeyOf(error)).toBe(SIGNING_KEY);
    await service.allEnded();
  });
});

describe('a compressed answer is counted after decompression', () => {
  const headers = { 'content-encoding': 'gzip' };

  test('64 MiB in 64 KiB', async () => {
    const body = gzipSync(Buffer.alloc(64 * MEBIBYTE, ' '));
    expect(body.length).toBeLessThan(MEBIBYTE / 8);
    expect(await failureOf(async () => read(await openClient({ headers, body })))).toMatchObject({
      code: 'answer_too_large',
    });
  });

  test('a key before the bomb is handed over', async () => {
    const body = gzipSync(`{${key},${' '.repeat(2 * MEBIBYTE)}}`);
    const error = await failureOf(async () => create(await openClient({ status: 201, headers, body })));
    expect(error).toMatchObject({ code: 'answer_too_large' });
    expect(signingKeyOf(error)).toBe(SIGNING_KEY);
  });

  test('just as long as the limit', async () => {
    const text = ' '.repeat(MEBIBYTE);
    expect(await read(await openClient({ headers, body: gzipSync(text) }))).toMatchObject({
      status: 200,
      text,
    });
  });
});

describe('maxAnswerBytes', () => {
  const text = `"${'ä'.repeat(20_000)}"`;
  const length = Buffer.byteLength(text);

  test('lets an answer of that length through', async () => {
    const { body } = await read(await openClientOf(inTurn(json(text)), { maxAnswerBytes: length }));
    expect(body).toBe('ä'.repeat(20_000));
  });

  test.each([length - 1, 1])('of %d refuses a longer one', async (maxAnswerBytes) => {
    const client = await openClientOf(inTurn(json(text)), { maxAnswerBytes });
    expect(await failureOf(() => read(client))).toMatchObject(
      errorOf('answer_too_large', `longer than ${maxAnswerBytes} bytes`),
    );
  });
});

describe('a signing key of 16 MiB', () => {
  const long = 'k'.repeat(16 * MEBIBYTE);
  const reply = json(`{"secret_signing_key":"${long}"}`, 201);

  test('is handed over if the limit lets it through', async () => {
    const client = await openClientOf(inTurn(reply), { maxAnswerBytes: 20 * MEBIBYTE });
    const error = await failureOf(() => create(client));
    expect(error).toMatchObject({ code: 'answer_invalid' });
    expect(signingKeyOf(error) === long).toBe(true);
  });

  test('is an answer that is too large, of which no part is taken for the key', async () => {
    const error = await failureOf(async () => create(await openClient(reply)));
    expect(error).toMatchObject({ code: 'answer_too_large' });
    expect(signingKeyOf(error)).toBeUndefined();
  });
});

test.each<[string, string]>([
  ['behind one that is null', `[{"secret_signing_key":null},{${key}}`],
  ['behind one that is empty', `[{"secret_signing_key":""},{${key}}`],
  ['behind one that is a list', `[{"secret_signing_key":["${'\\'.repeat(9)}"]},{${key}}`],
  ['behind a text that quotes one', `{"note":"\\"secret_signing_key\\":\\"other\\"",${key}`],
  ['of a refusal', `{"message":"created, and not stored",${key}}`],
])('a key in JSON is found: %s', async (name, text) => {
  const status = name === 'of a refusal' ? 500 : 201;
  const error = await failureOf(async () => create(await openClient(json(text, status))));
  expect(signingKeyOf(error)).toBe(SIGNING_KEY);
});

describe('an answer that is nested deeply', () => {
  const nested = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`;
  const created = (depth: number) =>
    json(webhook('WH1', { secret_signing_key: `"${SIGNING_KEY}"`, extra: nested(depth) }), 201);

  test('hands its key over, and nothing that a logger cannot print', async () => {
    const error = await failureOf(async () => create(await openClient(created(100_000))));
    expect(error).toMatchObject(errorOf('answer_invalid', 'it is nested more than 1000 deep'));
    expect(signingKeyOf(error)).toBe(SIGNING_KEY);
  });

  test('is read as ever up to 1,000', async () => {
    const { id, ...others } = await create(await openClient(created(999)));
    expect(id).toBe('WH1');
    expect(JSON.stringify(others)).toContain(nested(999));
  });

  test('brackets in texts do not count', async () => {
    const text = JSON.stringify({ text: `\\"${'['.repeat(5_000)}\\` });
    expect(await read(await openClient(json(text)))).toMatchObject({ body: JSON.parse(text) });
  });
});

test('a message of the service is cut, but not through a secret', async () => {
  const password = 'p'.repeat(50);
  const message = `${'x'.repeat(1_980)}${password}${'y'.repeat(MEBIBYTE / 4)}`;
  const client = await openClientOf(inTurn(json(JSON.stringify({ message, details: message }), 400)), {
    administrator: { username: 'admin', password },
  });
  const cut = expect.stringMatching(/^x{1980}\[hidden\]y+…$/);
  const error = await failureOf(() => create(client));
  expect(error).toMatchObject({ message: cut, details: cut });
  expect(error instanceof ServiceError && error.details?.length).toBe(2_001);
});
