import { type EventContent, type OperatorIdentity, toOperator } from 'posthorn/operator';
import { describe, expect, test } from 'vitest';
import { fakeTime, passUntil } from '../support/fake-time.ts';
import { nastyValues } from '../support/nasty-values.ts';
import { silenced } from '../support/silenced.ts';
import { expectProblem } from './expectations.ts';
import { fetchOperator, type MountOptions, PATH } from './mounts.ts';
import { bodyOf, createOperated, idOf, letter, record } from './operated.ts';

const SECRET = 'DE89370400440532013000';
const rawBody = Buffer.from(`{"iban":"${SECRET}"}`);
const headers = { 'x-secret': [SECRET] };
const paths = [`/api/dead-letters/${idOf(1)}`, `/api/events/${idOf(1)}`];

function open(options: MountOptions) {
  const parked = [letter(1, { rawBody, headers })];
  const { receiver } = createOperated({ parked, records: [record(1, { rawBody, headers })] });
  return { ask: fetchOperator(receiver, options), printed: silenced('error') };
}

/** JavaScript can give anything as the result of a mask. */
const masking = (mask: (content: EventContent) => unknown): MountOptions => ({ mask: Object(mask) });

test('a mask decides what is seen of a dead letter and of an event', async () => {
  const asked: EventContent[] = [];
  const { ask } = open({
    mask: async (content) => {
      asked.push(content);
      return { body: content.body.replace(SECRET, '***'), headers: { 'x-seen': ['a', 'b'] } };
    },
  });
  for (const path of paths)
    expect((await ask(path)).body).toMatchObject({
      body: '{"iban":"***"}',
      headers: { 'x-seen': ['a', 'b'] },
    });
  const content = { id: idOf(1), type: 'transfer.succeeded', body: rawBody.toString(), headers };
  expect(asked).toEqual([content, content]);
});

test('a mask can be a method of a class, and has its `this`', async () => {
  class Desk {
    readonly path = PATH;
    readonly #shown = '***';

    authorize(): OperatorIdentity {
      return { name: 'ada', bodies: true };
    }

    mask(): Pick<EventContent, 'body' | 'headers'> {
      return { body: this.#shown, headers: {} };
    }
  }
  const { receiver } = createOperated({ parked: [letter(1, { rawBody, headers })] });
  const response = await toOperator(receiver, new Desk())(new Request(`http://a${PATH}${paths[0]}`));
  expect(await response.json()).toMatchObject({ body: '***', headers: {} });
});

test('a mask is not asked for an operator without bodies, or without the option', async () => {
  let asked = 0;
  const count = masking(() => {
    asked += 1;
  });
  const { ask } = open({ ...count, authorize: () => ({ name: 'bob' }) });
  for (const path of [...paths, '/api/dead-letters', '/api/events']) {
    const answer = await ask(path);
    expect(answer.status).toBe(200);
    expect(answer.text).not.toContain(SECRET);
  }
  const { receiver } = createOperated({ records: [record(1, { rawBody: undefined })] });
  expect((await fetchOperator(receiver, count)(`/api/events/${idOf(1)}`)).status).toBe(200);
  expect(asked).toBe(0);
});

describe('nothing of the event is shown if a mask', () => {
  test('throws, also with the event in its message, which is not even printed', async () => {
    const failing = masking(({ body }) => {
      throw new Error(`cannot read ${body}`);
    });
    for (const options of [failing, masking(async ({ body }) => JSON.parse(`x${body}`))]) {
      const { ask, printed } = open(options);
      for (const path of paths) {
        const answer = await ask(path);
        expect(expectProblem(answer, 500, 'mask_failed')).toContain('the log');
        expect(answer.text).not.toMatch(/iban|DE89/);
      }
      expect(printed).toHaveBeenCalledTimes(2);
      for (const [line] of printed.mock.calls) {
        expect(line).toMatch(/the option mask failed: .* (Syntax)?Error \[stack: /);
        expect(line).not.toMatch(/iban|DE89|cannot read/);
      }
      printed.mockClear();
    }
  });

  test('throws or returns any other value', async () => {
    let given: unknown;
    const throws = masking(() => {
      throw given;
    });
    const masks = [open(throws), open(masking(() => given))];
    for (const { value } of nastyValues) {
      given = value;
      for (const { ask } of masks) expectProblem(await ask(paths[0] ?? ''), 500, 'mask_failed');
    }
  });

  test.each([
    undefined,
    null,
    'the body',
    {},
    { body: 'x' },
    { headers: {} },
    { body: 7, headers: {} },
    { body: Buffer.from('x'), headers: {} },
    { body: 'x', headers: null },
    { body: 'x', headers: [] },
    { body: 'x', headers: { a: 'b' } },
    { body: 'x', headers: { a: [undefined] } },
    { body: 'x', headers: { a: null } },
  ])('returns %j', async (result) => {
    const answer = await open(masking(() => result)).ask(paths[0] ?? '');
    expect(expectProblem(answer, 500, 'mask_failed')).toContain('mask must return { body, headers }');
    expect(answer.text).not.toContain(SECRET);
  });

  test('has not answered after five seconds', async () => {
    const pass = fakeTime();
    const { receiver } = createOperated({ parked: [letter(1)] });
    silenced('error');
    const ask = fetchOperator(
      receiver,
      masking(() => new Promise(() => {})),
    );
    const startedAt = performance.now();
    const answer = await passUntil(pass, ask(paths[0] ?? ''));
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(5_000);
    expectProblem(answer, 500, 'mask_failed');
  });
});

describe('a body', () => {
  const bodies: readonly (readonly [name: string, bytes: Uint8Array, shown: string])[] = [
    ['of UTF-8', bodyOf('ä💥'), bodyOf('ä💥').toString()],
    ['of bytes that are not UTF-8', Buffer.from([0x61, 0xff, 0xfe, 0x62]), 'a\ufffd\ufffdb'],
    ['with a byte order mark', Buffer.from('\ufeff{}'), '\ufeff{}'],
    ['without bytes', Buffer.from(''), ''],
    ['of markup', Buffer.from('</script><img onerror=x>\0'), '</script><img onerror=x>\0'],
  ];

  test.each(bodies)('%s is a text', async (_name, bytes, shown) => {
    const { receiver } = createOperated({ parked: [letter(1, { rawBody: bytes })] });
    const answer = await fetchOperator(receiver)(paths[0] ?? '');
    expect(answer.body).toMatchObject({ body: shown });
    expect(answer.headers.get('content-type')).toBe('application/json');
  });
});
