import { describe, expect, test } from 'vitest';
import {
  ADMINISTRATOR,
  createWebhook,
  type OpenedSandbox,
  openSandbox,
  type Reply,
  retrieveWebhook,
} from './opened-sandbox.ts';

const PATH = '/payments/na/webhooks';

/** Both operations take the same members under the same rules. */
describe.each(['POST', 'PUT'])('%s', (method) => {
  async function send(members: string): Promise<{ reply: Reply; opened: OpenedSandbox; id: string }> {
    const opened = await openSandbox();
    const { id } = await createWebhook(opened, '{"url":"https://example.com/kept"}');
    const body = method === 'POST' ? `{"url":"https://example.com/",${members}}` : `{${members}}`;
    const path = method === 'POST' ? PATH : `${PATH}/${id}`;
    return { reply: await opened.call(method, path, ADMINISTRATOR, body), opened, id };
  }

  test.each([
    '"http://example.com"',
    '"http://10.0.0.1/"',
    '"http://128.0.0.1/"',
    '"http://localhost.example.com/"',
    '"http://127.0.0.1.example.com/"',
    '"http://localhost.example.com./"',
    '"http://notlocalhost/"',
    '"http://128.1/"',
    '"http://2147483649/"',
    '"http://[::2]/"',
    '"http://[::ffff:10.0.0.1]/"',
    '"ftp://example.com"',
    '"ftp://127.0.0.1"',
    '"example.com"',
    '"https://"',
    '"not a url"',
    '""',
    'null',
    '7',
  ])('url %s is refused', async (url) => {
    const { reply, opened, id } = await send(`"url":${url}`);
    expect(reply.status).toBe(400);
    expect(reply.body).toEqual({
      status: 400,
      message: 'Invalid URL',
      details: 'URL must use the HTTPS protocol',
    });
    expect(await retrieveWebhook(opened, id)).toMatchObject({ url: 'https://example.com/kept' });
  });

  test.each([
    'https://example.com/hooks?a=b',
    'https://192.168.0.1:8443/',
    'http://localhost:1',
    'http://127.0.0.1:1',
    'http://127.8.9.10:1/x',
    'http://[::1]:1',
    'http://[0:0:0:0:0:0:0:1]:1',
    'http://[::ffff:127.0.0.1]:1',
    'http://[::FFFF:7F00:1]:1',
    'http://0.0.0.0:1',
    'http://127.1:1',
    'http://2130706433:1',
    'http://0x7f.1:1',
    'http://0177.0.0.1:1',
    'http://127.0.0.1.:1',
    'http://LocalHost.:1',
    'http://api.localhost:1',
  ])('url %s is accepted, and kept as it is', async (url) => {
    const { reply } = await send(`"url":"${url}"`);
    expect(reply).toMatchObject({ status: method === 'POST' ? 201 : 200, body: { url } });
  });

  test('a url with credentials is refused: they would be sent whatever authentication says', async () => {
    const { reply } = await send('"url":"https://user:secret@example.com/"');
    expect(reply).toMatchObject({ status: 400, body: { message: 'Invalid URL' } });
    expect(JSON.stringify(reply.body)).not.toContain('secret');
  });

  test.each([
    ['{"type":"BASIC"}', 'Basic authentication requires username and password'],
    ['{"type":"BASIC","basic":{"username":"u"}}', 'Basic authentication requires username and password'],
    ['{"type":"BASIC","basic":{"password":"p"}}', 'Basic authentication requires username and password'],
    [
      '{"type":"BASIC","basic":{"username":"","password":"p"}}',
      'Basic authentication requires username and password',
    ],
    [
      '{"type":"BASIC","basic":{"username":1,"password":2}}',
      'Basic authentication requires username and password',
    ],
    ['{"type":"BASIC","bearer":{"token":"t"}}', 'Basic authentication requires username and password'],
    [
      '{"type":"BASIC","basic":{"username":"a:b","password":"p"}}',
      'username must not contain ":", and neither part control characters',
    ],
    ['{"type":"BEARER"}', 'Bearer authentication requires token'],
    ['{"type":"BEARER","bearer":{}}', 'Bearer authentication requires token'],
    ['{"type":"BEARER","bearer":{"token":"a\\nb"}}', 'token must be printable ASCII without spaces'],
    ['{"type":"DIGEST"}', 'type must be NONE, BASIC or BEARER'],
    ['{"type":"basic","basic":{"username":"u","password":"p"}}', 'type must be NONE, BASIC or BEARER'],
    ['{}', 'type must be NONE, BASIC or BEARER'],
    ['null', 'type must be NONE, BASIC or BEARER'],
    ['"NONE"', 'type must be NONE, BASIC or BEARER'],
  ])('authentication %s is refused', async (authentication, details) => {
    const { reply } = await send(`"authentication":${authentication}`);
    expect(reply.status).toBe(400);
    expect(reply.body).toEqual({ status: 400, message: 'Invalid authentication configuration', details });
  });

  test.each([
    ['[{"entity":"refund","types":[]}]', 'refund'],
    ['[{"entity":"transfer","types":["exploded"]}]', 'transfer.exploded'],
    ['[{"entity":"transfer","types":["transfer.created"]}]', 'transfer.transfer.created'],
    ['[{"entity":"settlement","types":["funding_transfer"]}]', 'settlement.funding_transfer'],
    ['[{"entity":"toString","types":[]}]', 'toString'],
    ['[{"entity":"transfer"}]', '0.types'],
    ['[{"types":[]}]', '0.entity'],
    ['["transfer.created"]', '0 '],
    ['{}', 'array'],
    ['null', 'array'],
  ])('enabled_events %s is refused, and the offender named', async (filter, named) => {
    const { reply } = await send(`"enabled_events":${filter}`);
    expect(reply.status).toBe(400);
    expect(reply.body).toEqual({
      status: 400,
      message: 'Invalid enabled_events',
      details: expect.stringContaining(named),
    });
  });

  test.each(['[]', '"text"', '7'])('a body that is %s and no object is refused', async (body) => {
    const opened = await openSandbox();
    const { id } = await createWebhook(opened, '{"url":"https://example.com/"}');
    const path = method === 'POST' ? PATH : `${PATH}/${id}`;
    const reply = await opened.call(method, path, ADMINISTRATOR, body);
    expect(reply).toMatchObject({ status: 400, body: { status: 400, message: 'Invalid request' } });
  });
});

test('a creation without a url is refused', async () => {
  const { call } = await openSandbox();
  expect(await call('POST', PATH, ADMINISTRATOR, '{}')).toMatchObject({
    status: 400,
    body: { message: 'Invalid URL', details: 'URL must use the HTTPS protocol' },
  });
});

test.each(['"yes"', '1', 'null'])('enabled %s is refused', async (enabled) => {
  const opened = await openSandbox();
  const { id } = await createWebhook(opened, '{"url":"https://example.com/"}');
  const reply = await opened.call('PUT', `${PATH}/${id}`, ADMINISTRATOR, `{"enabled":${enabled}}`);
  expect(reply).toMatchObject({ status: 400, body: { status: 400, message: 'Invalid enabled' } });
});
