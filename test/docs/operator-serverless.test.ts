import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { sign } from 'hono/jwt';
import type { Receiver } from 'posthorn';
import { createEvent, deliver } from 'posthorn/testing';
import { expect, onTestFinished, test, vi } from 'vitest';
import { functionUrlEvent, httpApiEvent } from '../adapters/lambda-events.ts';
import type { LambdaFunction } from '../adapters/lambda-gateway.ts';
import { packageRoot } from '../support/child-program.ts';
import { KEY } from '../support/served.ts';
import { silenced } from '../support/silenced.ts';
import { snippetWith } from '../support/snippet.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const PAGE = 'docs/operator-serverless.md';

/** Parks the first event that it handles, and handles it in the replay. */
const RECEIVER = `import { createReceiver, PermanentError } from 'posthorn';
import { createFileDeadLetters } from 'posthorn/file';
let runs = 0;
export const receiver = createReceiver({
  signingKey: '${KEY}',
  deadLetters: createFileDeadLetters(import.meta.dirname + '/dead-letters'),
});
receiver.on('*', () => {
  runs += 1;
  if (runs === 1) throw new PermanentError('not yet');
}).observe(() => {});
`;

/** Imports a function of examples/lambda anew, because it reads the environment, beside another receiver. */
const importFunction = (file: string) =>
  importProgram(readFileSync(join(packageRoot, 'examples', 'lambda', file), 'utf8'));

async function importProgram(code: string) {
  const directory = temporaryDirectory(packageRoot);
  const files = { 'receiver.js': RECEIVER, 'program.ts': code };
  for (const [name, content] of Object.entries(files)) writeFileSync(join(directory, name), content);
  const importFile = (name: string) => import(pathToFileURL(join(directory, name)).href);
  const { receiver }: { receiver: Receiver } = await importFile('receiver.js');
  return { receiver, ...(await importFile('program.ts')) };
}

/** The answer of a function in payload format 2.0. */
interface Result {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly cookies?: readonly string[];
  readonly body: string;
}

interface Sent {
  /** Its text and its type; without it the request is a GET. */
  readonly body?: readonly [type: string, text: string];
  readonly cookie?: string;
}

/** Calls a function as its function URL does. Bodies of forms come in base64. */
async function call(handler: LambdaFunction, target: string, { body, cookie }: Sent = {}): Promise<Result> {
  const [type, text] = body ?? [];
  const event = functionUrlEvent({
    method: body === undefined ? 'GET' : 'POST',
    target,
    headers: [
      ['host', 'abcdefghijklmnopqrstuvwxyz012345.lambda-url.eu-central-1.on.aws'],
      ...(cookie === undefined ? [] : [['cookie', cookie] as const]),
      ...(type === undefined
        ? []
        : ([
            ['content-type', type],
            ['sec-fetch-site', 'same-origin'],
          ] as const)),
    ],
    body: Buffer.from(text ?? ''),
  });
  return Reflect.apply(handler, undefined, [JSON.parse(JSON.stringify(event))]);
}

const signIn = (token: string): Sent => ({
  body: ['application/x-www-form-urlencoded', String(new URLSearchParams({ token }))],
});

function withTokens(tokens: Readonly<Record<string, string>>): void {
  for (const [name, token] of Object.entries(tokens)) vi.stubEnv(name, token);
  onTestFinished(() => void vi.unstubAllEnvs());
}

test('on Lambda the form comes first, then the page, its script, a list and a deed', async () => {
  silenced('info');
  withTokens({ ANNA_TOKEN: 'secret of anna' });
  const { handler, receiver } = await importFunction('operator.js');
  const event = createEvent('transfer.succeeded');
  expect((await deliver(receiver, event, { key: KEY })).status).toBe(200);

  const form = await call(handler, '/operator');
  expect(form).toMatchObject({
    statusCode: 401,
    body: expect.stringContaining('action="/operator/sign-in"'),
  });
  const signedIn = await call(handler, '/operator/sign-in', signIn('secret of anna'));
  expect(signedIn).toMatchObject({ statusCode: 303, headers: { location: '/operator' } });
  const [set = ''] = signedIn.cookies ?? [];
  expect(set).toMatch(/^__Host-operator=[^;]+; Path=\/; HttpOnly; Secure; SameSite=Lax$/);
  const cookie = set.split(';')[0] ?? '';

  const page = await call(handler, '/operator', { cookie });
  expect(page).toMatchObject({ statusCode: 200, body: expect.stringContaining('<base href="./operator/">') });
  const script = await call(handler, '/operator/page/page.js', { cookie });
  expect(script).toMatchObject({ statusCode: 200, body: expect.stringContaining("get('receivers')") });
  const list = await call(handler, '/operator/api/dead-letters', { cookie });
  expect(JSON.parse(list.body)).toMatchObject({ deadLetters: [{ id: event.id }] });
  const body = ['application/json', JSON.stringify({ ids: [event.id] })] as const;
  const done = await call(handler, '/operator/api/dead-letters/replay', { cookie, body });
  expect(JSON.parse(done.body)).toMatchObject({ results: [{ id: event.id, outcome: 'processed' }] });
});

test('on Lambda nobody gets in without the token of a person', async () => {
  withTokens({ ANNA_TOKEN: 'secret of anna', BEN_TOKEN: '' });
  const { handler } = await importFunction('operator.js');
  for (const token of ['another', '', 'undefined']) {
    const { cookies, statusCode } = await call(handler, '/operator/sign-in', signIn(token));
    expect([statusCode, cookies], token).toEqual([303, undefined]);
    for (const target of ['/operator', '/operator/page/page.js', '/operator/api/health'])
      expect(await call(handler, target, { cookie: `__Host-operator=${token}` })).toMatchObject({
        statusCode: 401,
      });
  }
  const body = ['application/json', '{"ids":["evt"]}'] as const;
  expect(await call(handler, '/operator/api/dead-letters/drop', { body })).toMatchObject({ statusCode: 401 });
});

test('on Lambda the word of an authorizer names who asks, and a header does not', async () => {
  const { handler } = await importFunction('authorized-operator.js');
  const ask = async (authorizer?: object): Promise<object> => {
    const target = '/operator/api/receivers';
    const headers = [['authorizer', '{"lambda":{"email":"eve@example.com"}}']] as const;
    const event = httpApiEvent({ method: 'GET', target, headers, body: Buffer.alloc(0) });
    const asked = {
      ...event,
      requestContext: { ...event.requestContext, ...(authorizer && { authorizer }) },
    };
    const { body }: Result = await handler(JSON.parse(JSON.stringify(asked)));
    return JSON.parse(body);
  };
  const operator = { name: 'anna@example.com' };
  expect(await ask({ lambda: { email: 'anna@example.com' } })).toMatchObject({ operator });
  for (const unknown of [undefined, {}, { lambda: null }, { lambda: { email: '' } }])
    expect(await ask(unknown)).toMatchObject({ code: 'forbidden' });
});

const TEAM = 'example.cloudflareaccess.com';
const AUDIENCE = 'tag of the application';

/** The keys of a team at Cloudflare Access, which signs by the first one. */
async function createTeam() {
  const algorithm = { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256', modulusLength: 2048 };
  const options = { ...algorithm, publicExponent: new Uint8Array([1, 0, 1]) };
  const pair = await crypto.subtle.generateKey(options, true, ['sign', 'verify']);
  const [privateKey, publicKey] = await Promise.all(
    [pair.privateKey, pair.publicKey].map((key) => crypto.subtle.exportKey('jwk', key)),
  );
  const named = { kid: 'first', alg: 'RS256' };
  return { privateKey: { ...privateKey, ...named }, publicKey: { ...publicKey, ...named } };
}

test('on Workers a token of Cloudflare Access names its user, if it is of this team and this application', async () => {
  const [team, foreign] = await Promise.all([createTeam(), createTeam()]);
  const fetched = vi.fn(async (_url: string) => Response.json({ keys: [team.publicKey] }));
  vi.stubGlobal('fetch', fetched);
  onTestFinished(() => void vi.unstubAllGlobals());
  const { byAccess } = await importProgram(snippetWith('verifyWithJwks(', PAGE));
  const authorize = byAccess({ team: TEAM, audience: AUDIENCE });
  const claims = {
    email: 'anna@example.com',
    iss: `https://${TEAM}`,
    aud: [AUDIENCE],
    exp: Date.now() / 1_000 + 60,
  };
  const requestWith = (token: string) =>
    new Request('https://worker.example/operator', { headers: { 'cf-access-jwt-assertion': token } });
  const asked = async (changed: object = {}, { privateKey } = team) =>
    authorize(requestWith(await sign({ ...claims, ...changed }, privateKey, 'RS256')));

  expect(await asked()).toEqual({ name: 'anna@example.com' });
  expect(fetched.mock.calls[0]?.[0]).toBe(`https://${TEAM}/cdn-cgi/access/certs`);
  expect(await asked({ email: undefined })).toBeUndefined();
  expect(await authorize(new Request('https://worker.example/operator'))).toBeUndefined();
  for (const changed of [{ aud: ['another'] }, { iss: 'https://evil.example' }, { exp: 1 }])
    await expect(asked(changed)).rejects.toThrow();
  await expect(asked({}, foreign)).rejects.toThrow('signature');
  const unset = byAccess({ team: TEAM, audience: '' });
  expect(await unset(requestWith(await sign(claims, team.privateKey, 'RS256')))).toBeUndefined();
});
