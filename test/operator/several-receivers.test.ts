import { describe, expect, test } from 'vitest';
import { expectProblem } from './expectations.ts';
import { fetchOperator } from './mounts.ts';
import { createOperated, idOf, letter, letters, record } from './operated.ts';

function open(name?: string) {
  const payments = createOperated({ parked: letters(2), records: [record(1)] });
  const disputes = createOperated({ parked: [letter(7)], deadLetters: undefined, name });
  const ask = fetchOperator({ payments: payments.receiver, 'dis/putes': disputes.receiver });
  return { ask, disputes, payments };
}

describe('several receivers', () => {
  test('are listed, with what each has and who asks', async () => {
    const { ask } = open();
    expect((await ask('/api/receivers')).body).toEqual({
      receivers: [
        { name: 'payments', provider: 'banking-service', deadLetters: true, journal: true },
        { name: 'dis/putes', provider: 'banking-service', deadLetters: false, journal: false },
      ],
      operator: { name: 'ada', bodies: true },
    });
    expect((await ask('/api/openapi.json')).status).toBe(200);
  });

  test('are told apart by their names', async () => {
    const { ask, payments } = open();
    const list = await ask('/api/dead-letters?receiver=payments&limit=1');
    expect(list.body).toMatchObject({ deadLetters: [{ id: idOf(1) }] });
    expectProblem(await ask('/api/dead-letters?receiver=dis%2Fputes'), 404, 'dead_letters_missing');
    await ask('/api/dead-letters/replay?receiver=payments', { body: { ids: [idOf(2)] } });
    expect(payments.handled).toEqual([idOf(2)]);
    expect(payments.log.mock.calls).toEqual([
      [`posthorn: [payments] operator=ada replay ${idOf(2)}=processed`],
    ]);
  });

  test('are refused without a name: the problem has all names', async () => {
    const { ask, payments } = open();
    for (const path of ['/api/health', '/api/dead-letters', '/api/events', '/api/deliveries'])
      expect(expectProblem(await ask(path), 400, 'request_invalid')).toBe(
        'say with ?receiver= which receiver: the receivers are "payments", "dis/putes"',
      );
    const answer = await ask('/api/dead-letters/replay', { body: { selection: {} } });
    expectProblem(answer, 400, 'request_invalid');
    expect(payments.handled).toEqual([]);
  });

  test('are refused with a name that none has: the problem has the nearest', async () => {
    const { ask } = open();
    for (const path of ['/api/health', '/api/receivers'])
      expect(expectProblem(await ask(`${path}?receiver=paiments`), 400, 'request_invalid')).toBe(
        'receiver: no receiver has the name "paiments"; the nearest is "payments"',
      );
    for (const name of ['', '__proto__', 'constructor', 'x'.repeat(10_000)])
      expectProblem(await ask(`/api/health?receiver=${name}`), 400, 'request_invalid');
    expectProblem(await ask('/api/health?receiver=payments&receiver=payments'), 400, 'request_invalid');
  });
});

describe('one receiver', () => {
  test('needs no name', async () => {
    const ask = fetchOperator(createOperated().receiver);
    expect((await ask('/api/health')).status).toBe(200);
    expect(expectProblem(await ask('/api/health?receiver=payments'), 400, 'request_invalid')).toContain(
      'it has no name',
    );
  });

  test('may be asked for by its option name', async () => {
    const ask = fetchOperator(createOperated({ name: 'payments' }).receiver);
    for (const query of ['', '?receiver=payments'])
      expect((await ask(`/api/health${query}`)).status).toBe(200);
    expect((await ask('/api/receivers')).body).toMatchObject({ receivers: [{ name: 'payments' }] });
  });

  test('tells its health', async () => {
    const { receiver } = createOperated({ parked: letters(3), records: [] });
    expect((await fetchOperator(receiver)('/api/health')).body).toMatchObject({
      provider: 'banking-service',
      closing: false,
      running: 0,
      store: { ok: true },
      deadLetters: { ok: true, waiting: 3, more: false, oldestParkedAt: letter(1).parkedAt },
      journal: { ok: true },
    });
  });
});
