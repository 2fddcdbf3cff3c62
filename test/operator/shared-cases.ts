import { DeadLetterError } from 'posthorn';
import { expect } from 'vitest';
import { createMapDeadLetters } from '../support/map-dead-letters.ts';
import { silenced } from '../support/silenced.ts';
import { throwing } from '../support/throwing.ts';
import { expectGuarded, expectProblem } from './expectations.ts';
import type { Ask, MountOperator, MountOptions } from './mounts.ts';
import { createOperated, idOf, letter, letters, type Operated, record } from './operated.ts';

/** A requirement of each mount. */
interface SharedCase {
  readonly name: string;
  readonly run: (mount: MountOperator) => Promise<void>;
}

async function open(
  mount: MountOperator,
  { operated = createOperated({ parked: letters(3), records: [record(1)] }), ...options }: Opened = {},
): Promise<Operated & { readonly ask: Ask }> {
  return { ...operated, ask: await mount(operated.receiver, options) };
}

type Opened = MountOptions & { readonly operated?: Operated };

/** Each kind of answer: successes, refusals, and what nothing is served under. */
const REQUESTS = [
  ['GET', '/api/receivers', 200],
  ['GET', '/api/health', 200],
  ['GET', '/api/deliveries', 200],
  ['GET', '/api/dead-letters', 200],
  ['GET', '/api/dead-letters?limit=2', 200],
  ['GET', `/api/dead-letters/${idOf(1)}`, 200],
  ['GET', '/api/events', 200],
  ['GET', `/api/events/${idOf(1)}`, 200],
  ['GET', '/api/openapi.json', 200],
  ['HEAD', '/api/dead-letters', 200],
  ['GET', '/api/dead-letters?limit=0', 400],
  ['GET', '/api/dead-letters/none', 404],
  ['GET', '/api/none', 404],
  ['GET', '/page/none', 404],
  ['POST', '', 404],
  ['PUT', '/api/dead-letters', 405],
  ['OPTIONS', '/api/dead-letters/replay', 405],
  ['POST', '/api/dead-letters/replay', 415],
] as const;

const PAGE = [
  ['', 'text/html; charset=utf-8'],
  ['/', 'text/html; charset=utf-8'],
  ['/page/page.js', 'text/javascript; charset=utf-8'],
  ['/page/style.css', 'text/css; charset=utf-8'],
  ['/page/icon.svg', 'image/svg+xml'],
] as const;

const CONTENT_SECURITY_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
  "base-uri 'self'; form-action 'none'; frame-ancestors 'none'; " +
  "require-trusted-types-for 'script'; trusted-types 'none'";

const DEEDS = ['/api/dead-letters/replay', '/api/dead-letters/drop', '/api/events/rerun'];

/** The requirements of each mount. */
export const sharedCases: readonly SharedCase[] = [
  {
    name: 'each answer has its status, and all headers that guard it',
    run: async (mount) => {
      const { ask } = await open(mount);
      for (const [method, path, status] of REQUESTS) {
        const answer = await ask(path, { method });
        expect(answer.status, `${method} ${path}`).toBe(status);
        expectGuarded(answer);
        expect(answer.headers.get('content-type')).toBe(
          status === 200 ? 'application/json' : 'application/problem+json',
        );
      }
    },
  },
  {
    name: 'the page and its files have their types, and a policy that lets only them in',
    run: async (mount) => {
      const { ask } = await open(mount);
      for (const [path, contentType] of PAGE) {
        for (const method of ['GET', 'HEAD']) {
          const answer = await ask(path, { method });
          expect([answer.status, answer.headers.get('content-type')], path).toEqual([200, contentType]);
          expectGuarded(answer, { 'content-security-policy': CONTENT_SECURITY_POLICY });
          expect(answer.text === '', `${method} ${path}`).toBe(method === 'HEAD');
        }
      }
      // Files beside the page, however the page was asked for.
      expect((await ask('')).text).toContain('<base href="./operator/">');
      expect((await ask('/')).text).toContain('<base href="./">');
    },
  },
  {
    name: 'nobody gets further than 403, under any path and by any method',
    run: async (mount) => {
      const { ask, handled, left } = await open(mount, { authorize: () => undefined });
      const pages = PAGE.map(([path]) => ['GET', path, 200] as const);
      const requests = [...REQUESTS, ...pages, ...DEEDS.map((path) => ['POST', path, 200] as const)];
      for (const [method, path] of requests) {
        const body = method === 'POST' ? { body: { selection: {} } } : {};
        const answer = await ask(path, { method, ...body });
        expect(answer.status, `${method} ${path}`).toBe(403);
        expectGuarded(answer);
        if (method !== 'HEAD') expect(answer.body.code).toBe('forbidden');
      }
      expect([handled.length, left.size]).toEqual([0, 3]);
    },
  },
  {
    name: 'authorize gets a request with the method, the address and the headers',
    run: async (mount) => {
      const asked: Request[] = [];
      const authorize = (request: Request) => void asked.push(request);
      const { ask } = await open(mount, { authorize });
      await ask('/api/events?after=a%20b', { headers: { cookie: 'session=1', 'x-team': 'payments' } });
      const [request = expect.unreachable()] = asked;
      expect(new URL(request.url).pathname + new URL(request.url).search).toBe(
        '/operator/api/events?after=a%20b',
      );
      expect([request.method, request.headers.get('cookie'), request.headers.get('x-team')]).toEqual([
        'GET',
        'session=1',
        'payments',
      ]);
    },
  },
  {
    name: 'HEAD has the status of GET, and no body',
    run: async (mount) => {
      const { ask } = await open(mount);
      for (const [path, status] of [
        [`/api/dead-letters/${idOf(1)}`, 200],
        ['/api/dead-letters/none', 404],
      ] as const)
        expect(await ask(path, { method: 'HEAD' })).toMatchObject({ status, text: '' });
    },
  },
  {
    name: '405 names the methods that are allowed',
    run: async (mount) => {
      const { ask } = await open(mount);
      const allowOf = async (method: string, path: string) =>
        (await ask(path, { method })).headers.get('allow');
      expect(await allowOf('DELETE', '/api/dead-letters')).toBe('GET');
      expect(await allowOf('POST', '/api/health')).toBe('GET');
      expect(await allowOf('PATCH', '/api/dead-letters/replay')).toBe('GET, POST');
      expect(await allowOf('POST', `/api/dead-letters/${idOf(1)}`)).toBe('GET');
    },
  },
  {
    name: 'a slash at the end changes nothing',
    run: async (mount) => {
      const { ask } = await open(mount);
      expect((await ask('/api/dead-letters/')).body.deadLetters).toHaveLength(3);
      expect((await ask(`/api/dead-letters/${idOf(2)}/`)).body).toMatchObject({ id: idOf(2) });
    },
  },
  {
    name: 'a deed is done, and the letter is gone',
    run: async (mount) => {
      const { ask, handled, left } = await open(mount);
      const answer = await ask('/api/dead-letters/replay', { body: { ids: [idOf(2)] } });
      expect(answer).toMatchObject({
        status: 200,
        body: { results: [{ id: idOf(2), type: 'transfer.succeeded', outcome: 'processed' }] },
      });
      expect(handled).toEqual([idOf(2)]);
      expect([...left.keys()]).toEqual([idOf(1), idOf(3)]);
    },
  },
  {
    name: 'a deed that a page of another origin sends is refused',
    run: async (mount) => {
      const { ask, handled } = await open(mount);
      const foreign = [{ 'sec-fetch-site': 'cross-site' }, { origin: 'https://evil.example' }];
      for (const headers of foreign)
        expectProblem(
          await ask('/api/dead-letters/replay', { headers, body: { selection: {} } }),
          403,
          'origin_foreign',
        );
      expect(handled).toEqual([]);
    },
  },
  {
    name: 'a body over 1 MiB gets 413, and one that is not JSON gets 400',
    run: async (mount) => {
      const { ask, handled } = await open(mount);
      const large = JSON.stringify({ ids: ['x'.repeat(1_048_576)] });
      expectProblem(await ask('/api/dead-letters/replay', { body: large }), 413, 'body_too_large');
      for (const body of ['{"ids":["evt_001"', '', '\ufffe'])
        expectProblem(await ask('/api/dead-letters/replay', { body }), 400, 'request_invalid');
      expect(handled).toEqual([]);
    },
  },
  {
    name: 'an id can hold anything',
    run: async (mount) => {
      const ids = ['a/b', '..%2f..', '%', 'a?b#c', '"><script>alert(1)</script>', 'ä 💥', 'a\0b\r\nc'];
      const parked = [...ids, 'x'.repeat(4_000)].map((id, index) => letter(index, { id }));
      const { ask, left } = await open(mount, { operated: createOperated({ parked }) });
      for (const { id } of parked) {
        const answer = await ask(`/api/dead-letters/${encodeURIComponent(id)}`);
        expect(answer).toMatchObject({ status: 200, body: { id } });
        expectGuarded(answer);
      }
      expect((await ask('/api/dead-letters')).body.deadLetters).toHaveLength(parked.length);
      await ask('/api/dead-letters/drop', { body: { ids: parked.map(({ id }) => id) } });
      expect(left.size).toBe(0);
    },
  },
  {
    name: 'dead letters that do not answer get 503, and a defect 500, which is printed',
    run: async (mount) => {
      const printed = silenced('error');
      const errors = [
        new DeadLetterError('dead_letters_unavailable', 'the server is away'),
        new Error('a defect\nof ours'),
      ];
      const deadLetters = { ...createMapDeadLetters(), get: () => throwing(errors.shift() ?? '')() };
      const { ask } = await open(mount, { operated: createOperated({ deadLetters }) });
      expectProblem(await ask('/api/dead-letters/none'), 503, 'dead_letters_unavailable');
      expect(printed).not.toHaveBeenCalled();
      expectProblem(await ask('/api/dead-letters/none'), 500, 'internal_error');
      const [line] = printed.mock.calls.flat();
      expect(line).toMatch(
        /^posthorn: the operator's interface failed: a defect\\u\{a\}of ours Error \[stack: .*\]$/,
      );
    },
  },
];
