import { toOperator } from 'posthorn/operator';
import { describe, expect, test } from 'vitest';
import { silenced } from '../support/silenced.ts';
import { expectProblem } from './expectations.ts';
import { ada, fetchOperator, PATH } from './mounts.ts';
import { createOperated, idOf, letters, record } from './operated.ts';

const LETTER_DEEDS = ['/api/dead-letters/replay', '/api/dead-letters/drop'];
const RERUN = '/api/events/rerun';

/** Bodies that no deed takes, and a word of the problem. */
const wrong: readonly (readonly [body: object | null | number | string, named: string])[] = [
  [{}, 'either ids or selection'],
  [{ ids: [idOf(1)], selection: {} }, 'either ids or selection'],
  [{ ids: [idOf(1)], after: idOf(1) }, 'after'],
  [{ ids: [] }, 'ids'],
  [{ ids: [''] }, 'ids.0'],
  [{ ids: [7] }, 'ids.0'],
  [{ ids: idOf(1) }, 'ids'],
  [{ ids: { 0: idOf(1) } }, 'ids'],
  [{ ids: Array.from({ length: 1_001 }, () => idOf(1)) }, 'ids'],
  [{ selection: null }, 'selection'],
  [{ selection: [] }, 'selection'],
  [{ selection: 'all' }, 'selection'],
  [{ selection: { id: idOf(1) } }, 'id'],
  [{ selection: { type: 'a.*.b' } }, 'selection.type'],
  [{ selection: { type: '' } }, 'selection.type'],
  [{ selection: { since: '2026-05-04' } }, 'selection.since'],
  [{ selection: { until: 1.5 } }, 'selection.until'],
  [{ selection: {}, dryRun: 'yes' }, 'dryRun'],
  [{ selection: {}, dryrun: true }, 'dryrun'],
  [{ selection: {}, limit: 5 }, 'limit'],
  [{ selection: {}, after: '' }, 'after'],
  [[], 'the body'],
  [null, 'the body'],
  [7, 'the body'],
  ['"all"', 'the body'],
  ['{"selection":{},"__proto__":{"dryRun":true}}', '__proto__'],
  ['{"selection":{"__proto__":{"type":"x"}}}', '__proto__'],
  ['{"selection":{}}}', 'JSON'],
  ["{'selection':{}}", 'JSON'],
  ['', 'JSON'],
  ['[', 'JSON'],
];

function open() {
  const audited: unknown[] = [];
  const operated = createOperated({ parked: letters(2), records: [record(1)] });
  return {
    ...operated,
    audited,
    ask: fetchOperator(operated.receiver, { audit: (deed) => audited.push(deed) }),
  };
}

describe.each([...LETTER_DEEDS, RERUN])('%s refuses', (path) => {
  const rest = path === RERUN ? { handlers: ['book'], run: 'mend' } : {};
  const complete = (body: object | null | number | string): unknown =>
    typeof body === 'object' && body !== null && !Array.isArray(body) ? { ...rest, ...body } : body;

  test('each wrong body, names what is wrong, and does nothing', async () => {
    const { ask, audited, handled, left } = open();
    for (const [body, named] of wrong) {
      const text = typeof body === 'string' ? body.replace('{', `{${inner(rest)}`) : complete(body);
      const answer = await ask(path, { body: text });
      expect(expectProblem(answer, 400, 'request_invalid'), JSON.stringify(body)).toContain(named);
    }
    expect([audited, handled, left.size]).toEqual([[], [], 2]);
  });

  test('a query', async () => {
    const body = { ...rest, selection: {} };
    expectProblem(await open().ask(`${path}?dryRun=true`, { body }), 400, 'request_invalid');
  });
});

/** The members of an object as JSON, before others. */
function inner(members: object): string {
  const text = JSON.stringify(members).slice(1, -1);
  return text === '' ? '' : `${text},`;
}

test.each([
  [{ handlers: [] }, 'handlers'],
  [{ handlers: 'book' }, 'handlers'],
  [{ handlers: undefined }, 'handlers'],
  [{ handlers: ['bok'] }, '"bok"'],
  [{ run: undefined }, 'run'],
  [{ run: '' }, 'run'],
  [{ run: 'x'.repeat(101) }, 'run'],
  [{ run: 'a\0b' }, 'run'],
  [{ reason: 'x'.repeat(1_001) }, 'reason'],
  [{ reason: 7 }, 'reason'],
  [{ selection: { outcome: 'lost' } }, 'selection.outcome'],
])('a rerun with %j is refused', async (changes, named) => {
  const { ask, handled } = open();
  const body = { handlers: ['book'], run: 'mend', selection: {}, ...changes };
  expect(expectProblem(await ask(RERUN, { body }), 400, 'request_invalid')).toContain(named);
  expect(handled).toEqual([]);
});

test('a name that no handler has is answered with the nearest', async () => {
  const body = { handlers: ['bok'], run: 'mend', selection: {} };
  expect((await open().ask(RERUN, { body })).body.detail).toContain('the nearest is "book"');
});

test('a megabyte of wrong handlers gets a short answer', async () => {
  const { ask, handled } = open();
  const wrongHandlers = [
    Array.from({ length: 500_000 }, () => 7),
    Array.from({ length: 100 }, () => 7),
    Array.from({ length: 2_000 }, () => 'x'.repeat(500)),
    Array.from({ length: 100 }, (_, index) => `${'x'.repeat(490)}${index}`),
    ['x'.repeat(1_000_000)],
  ];
  for (const handlers of wrongHandlers) {
    const body = { handlers, run: 'mend', selection: {} };
    const detail = expectProblem(await ask(RERUN, { body }), 400, 'request_invalid');
    expect(detail).toContain('handler');
    expect(detail.length).toBeLessThan(2_000);
  }
  expect(handled).toEqual([]);
});

describe('the size of a body', () => {
  const padded = (bytes: number): string => JSON.stringify({ ids: [idOf(1)] }).padEnd(bytes);

  test('can be 1 MiB', async () => {
    const { ask, handled } = open();
    expect((await ask('/api/dead-letters/replay', { body: padded(1_048_576) })).status).toBe(200);
    expect(handled).toEqual([idOf(1)]);
  });

  test('cannot be a byte more', async () => {
    const { ask, handled } = open();
    const answer = await ask('/api/dead-letters/replay', { body: padded(1_048_577) });
    expect(expectProblem(answer, 413, 'body_too_large')).toContain('1048576');
    expect(handled).toEqual([]);
  });
});

describe('toOperator', () => {
  const requestWith = (body: ReadableStream): Request => {
    const headers = { 'content-type': 'application/json' };
    return new Request(`http://a${PATH}${LETTER_DEEDS[0]}`, {
      method: 'POST',
      headers,
      body,
      duplex: 'half',
    });
  };

  test('refuses a body that is cut short, which is not a defect', async () => {
    const printed = silenced('error');
    const { handled, receiver } = open();
    const chunks = [new TextEncoder().encode(JSON.stringify({ ids: [idOf(1)] }))];
    const body = new ReadableStream({
      pull: (controller) => {
        const chunk = chunks.shift();
        if (chunk === undefined) controller.error(new Error('the connection was closed'));
        else controller.enqueue(chunk);
      },
    });
    const response = await toOperator(receiver, ada)(requestWith(body));
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ code: 'request_invalid' });
    expect([handled, printed.mock.calls]).toEqual([[], []]);
  });

  test('stops to read a body without an end', async () => {
    let isCancelled = false;
    const body = new ReadableStream({
      pull: (controller) => controller.enqueue(new Uint8Array(100_000)),
      cancel: () => {
        isCancelled = true;
      },
    });
    const response = await toOperator(open().receiver, ada)(requestWith(body));
    expect([response.status, isCancelled]).toEqual([413, true]);
  });

  test('prints that the application has read the body before', async () => {
    const printed = silenced('error');
    const request = requestWith(new Blob(['{}']).stream());
    await request.text();
    const response = await toOperator(open().receiver, ada)(request);
    expect(response.status).toBe(500);
    expect(printed.mock.calls.flat()).toEqual([expect.stringContaining('hand over the request unread')]);
  });
});
