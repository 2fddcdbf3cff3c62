import { describe, expect, type MockInstance, onTestFinished, test, vi } from 'vitest';
import { fakeTime, passUntil } from '../support/fake-time.ts';
import { nastyValues } from '../support/nasty-values.ts';
import { throwing } from '../support/throwing.ts';
import { expectProblem } from './expectations.ts';
import { fetchOperator } from './mounts.ts';
import { createOperated, idOf, letters } from './operated.ts';

/** The warnings of the process, which the terminal does not get. */
function seenWarnings(): MockInstance<typeof process.emitWarning> {
  const spy = vi.spyOn(process, 'emitWarning').mockReturnValue();
  onTestFinished(() => void spy.mockRestore());
  return spy;
}

/** Opens the interface with dead letters, for whatever `authorize` gives. */
function openWith(authorize: (...given: never[]) => unknown) {
  const operated = createOperated({ parked: letters(25) });
  // JavaScript can return anything.
  const ask = fetchOperator(operated.receiver, { authorize: Object(authorize) });
  return { ...operated, ask, warnings: seenWarnings() };
}

const nobody: readonly (readonly [name: string, value: unknown])[] = [
  ...[undefined, null, false, true, 0, 1, '', 'ada', {}, [], ['ada']].map(
    (value) => [JSON.stringify(value) ?? 'undefined', value] as const,
  ),
  ...[undefined, null, '', 7, {}, ['ada'], '\ud800'].map(
    (name) => [`a name that is ${JSON.stringify(name) ?? 'undefined'}`, { name }] as const,
  ),
  ['a function, which has a name of its own', function isOperator() {}],
  ['a class', class Operator {}],
  ['an error, which has a name of its own', new Error('not logged in')],
  ['a Response', new Response()],
  ...nastyValues.map(({ name, value }) => [name, value] as const),
];

describe('nobody is let in by', () => {
  test('a value that names nobody, at once or as a promise', async () => {
    let given: unknown;
    const [now, later] = [openWith(() => given), openWith(async () => given)];
    for (const [name, value] of nobody) {
      given = value;
      for (const { ask } of [now, later])
        expect(expectProblem(await ask('/api/dead-letters'), 403, 'forbidden'), name).toContain('authorize');
    }
  });

  test('an authorize that throws or rejects with any value', async () => {
    let thrown: unknown;
    const fail = () => {
      throw thrown;
    };
    const [now, later] = [openWith(fail), openWith(async () => fail())];
    for (const { value } of nastyValues) {
      thrown = value;
      for (const { ask } of [now, later]) expectProblem(await ask('/api/dead-letters'), 403, 'forbidden');
    }
  });

  test('an authorize that has not answered after five seconds', async () => {
    const pass = fakeTime();
    const { ask } = openWith(() => new Promise(() => {}));
    let isAnswered = false;
    const asked = ask('/api/dead-letters').finally(() => {
      isAnswered = true;
    });
    await pass(4_900);
    expect(isAnswered).toBe(false);
    expectProblem(await passUntil(pass, asked), 403, 'forbidden');
  });
});

test('a name can come from a class, by a getter', async () => {
  class User {
    get name(): string {
      return 'ada';
    }
  }
  const { ask } = openWith(() => new User());
  expect((await ask('/api/receivers')).body).toMatchObject({ operator: { name: 'ada', bodies: false } });
});

test('bodies are shown for true alone', async () => {
  for (const bodies of [undefined, null, false, 0, 1, 'true', {}]) {
    const { ask } = openWith(() => ({ name: 'ada', bodies }));
    const { body, status, text } = await ask(`/api/dead-letters/${idOf(1)}`);
    expect(status).toBe(200);
    expect(Object.keys(body)).not.toContain('body');
    expect(Object.keys(body)).not.toContain('headers');
    expect(text).not.toContain('x-trace');
  }
  const { ask } = openWith(() => ({ name: 'ada', bodies: true }));
  expect((await ask(`/api/dead-letters/${idOf(1)}`)).body).toMatchObject({
    body: expect.stringContaining('"amount":1'),
    headers: { 'x-trace': ['t-1'] },
  });
});

test('authorize is asked once for each request, and a wrong one does not get further', async () => {
  let asked = 0;
  const { ask } = openWith(() => {
    asked += 1;
    return asked > 4 ? { name: 'ada' } : undefined;
  });
  for (const path of ['/api/none', '/api/dead-letters?limit=0', '/api/dead-letters/%ff', '/'])
    expectProblem(await ask(path), 403, 'forbidden');
  expectProblem(await ask('/api/none'), 404, 'not_found');
  expect(asked).toBe(5);
});

test('a request that loses its authorization between two portions does nothing', async () => {
  let isOperator = true;
  const { ask, handled } = openWith(() => isOperator && { name: 'ada' });
  const { body } = await ask('/api/dead-letters/replay', { body: { selection: {} } });
  expect(handled).toHaveLength(20);
  isOperator = false;
  expectProblem(await ask('/api/dead-letters/replay', { body: body.next }), 403, 'forbidden');
  expect(handled).toHaveLength(20);
});

describe('a failure of authorize', () => {
  test('is a warning of the process, on one line, once a minute', async () => {
    const { ask, warnings } = openWith(throwing('the sessions\nare away'));
    await ask('/api/health');
    await ask('/api/health');
    expect(warnings.mock.calls).toEqual([
      [
        "posthorn/operator: authorize failed: the sessions\\u{a}are away; the next minute's failures are not shown",
      ],
    ]);
  });

  test('is a warning again after a minute, and no earlier', async () => {
    const pass = fakeTime();
    const { ask, warnings } = openWith(throwing('the sessions are away'));
    const counts: number[] = [];
    for (const ms of [0, 59_900, 200]) {
      await pass(ms);
      await passUntil(pass, ask('/api/none'));
      counts.push(warnings.mock.calls.length);
    }
    expect(counts).toEqual([1, 1, 2]);
  });

  test('is a warning also if it returns what names nobody, and shows no more of that than its type', async () => {
    const values = [true, 'ada', { user: 'ada' }, new Error('not logged in'), () => {}];
    const shown = [];
    for (const value of values) {
      const { ask, warnings } = openWith(() => value);
      await ask('/api/health');
      shown.push(/ got (.*);/.exec(String(warnings.mock.lastCall?.[0]))?.[1]);
    }
    expect(shown).toEqual(['boolean', 'string', 'Object', 'Error', 'function']);
  });

  test('is not warned of if it returns nothing', async () => {
    for (const value of [undefined, null, false]) {
      const { ask, warnings } = openWith(() => value);
      await ask('/api/health');
      expect(warnings).not.toHaveBeenCalled();
    }
  });
});
