import { type OperatorDeed, type OperatorIdentity, toOperator } from 'posthorn/operator';
import { describe, expect, test } from 'vitest';
import { fakeTime, passUntil } from '../support/fake-time.ts';
import { nastyValues } from '../support/nasty-values.ts';
import { throwing } from '../support/throwing.ts';
import { expectProblem } from './expectations.ts';
import { fetchOperator, type MountOptions, PATH } from './mounts.ts';
import { createOperated, idOf, letter, letters, record } from './operated.ts';

const REPLAY = '/api/dead-letters/replay';
const DROP = '/api/dead-letters/drop';
const RERUN = '/api/events/rerun';
const all = { selection: {} };
const rerun = { handlers: ['book'], run: 'mend' };

function open(options: MountOptions = {}, parked = letters(22)) {
  const operated = createOperated({ parked, records: [record(1), record(2)] });
  return { ...operated, ask: fetchOperator(operated.receiver, options) };
}

describe('audit', () => {
  test('is told of a deed before the first handler runs', async () => {
    const order: unknown[] = [];
    const { receiver } = createOperated({ parked: letters(2), handle: ({ id }) => order.push(id) });
    const audit = async (deed: OperatorDeed): Promise<void> => {
      await null;
      order.push(deed);
    };
    await fetchOperator(receiver, { audit })(REPLAY, { body: { ids: [1, 2].map(idOf) } });
    expect(order).toEqual([
      { by: 'ada', deed: 'replay', ids: [1, 2].map(idOf), selection: undefined, receiver: undefined },
      idOf(1),
      idOf(2),
    ]);
  });

  test('is told of each portion, with its ids and the selection', async () => {
    const deeds: OperatorDeed[] = [];
    const { ask } = open({ audit: (deed) => deeds.push(deed) });
    const selection = { type: 'transfer.*', since: 0 };
    const { body } = await ask(DROP, { body: { selection } });
    await ask(DROP, { body: body.next });
    expect(deeds.map(({ ids }) => ids.length)).toEqual([20, 2]);
    expect(deeds[0]).toMatchObject({ by: 'ada', deed: 'drop', selection });
    expect(deeds[1]).toMatchObject({ ids: [21, 22].map(idOf), selection });
  });

  test('is told of a rerun: its handlers, its name and its reason', async () => {
    const deeds: OperatorDeed[] = [];
    const { ask } = open({ audit: (deed) => deeds.push(deed) });
    await ask(RERUN, { body: { ...rerun, reason: 'wrong account', ids: [idOf(2)] } });
    expect(deeds).toEqual([
      {
        ...{ by: 'ada', deed: 'rerun', ids: [idOf(2)], selection: undefined, receiver: undefined },
        rerun: { ...rerun, reason: 'wrong account' },
      },
    ]);
  });

  test('can be a method of a class, and has its `this`', async () => {
    class Desk {
      readonly path = PATH;
      readonly #deeds: OperatorDeed[] = [];

      authorize(): OperatorIdentity {
        return { name: 'ada' };
      }

      audit(deed: OperatorDeed): void {
        this.#deeds.push(deed);
      }

      get deeds(): readonly OperatorDeed[] {
        return this.#deeds;
      }
    }
    const desk = new Desk();
    const { receiver } = createOperated({ parked: letters(1) });
    const headers = { 'content-type': 'application/json' };
    const request = new Request(`http://a${PATH}${DROP}`, {
      ...{ method: 'POST', headers },
      body: JSON.stringify({ ids: [idOf(1)] }),
    });
    expect((await toOperator(receiver, desk)(request)).status).toBe(200);
    expect(desk.deeds).toMatchObject([{ deed: 'drop', ids: [idOf(1)] }]);
  });

  test('cannot change what is done', async () => {
    const { ask, left, log } = open({
      audit: (deed) => {
        Object.assign(deed.ids, { length: 0 });
        Object.assign(deed, { by: 'eve', deed: 'replay', ids: [idOf(3)] });
      },
    });
    const { body } = await ask(DROP, { body: { ids: [idOf(1), idOf(2)] } });
    expect(body.results?.map(({ id }) => id)).toEqual([idOf(1), idOf(2)]);
    expect(left.size).toBe(20);
    expect(log.mock.calls).toEqual([[`posthorn: operator=ada drop ${idOf(1)}=dropped ${idOf(2)}=dropped`]]);
  });

  test('is told of nothing that does nothing', async () => {
    const deeds: OperatorDeed[] = [];
    const { ask } = open({ audit: (deed) => deeds.push(deed) });
    for (const path of [REPLAY, DROP, RERUN]) {
      const rest = path === RERUN ? rerun : {};
      await ask(path, { body: { ...rest, ...all, dryRun: true } });
      await ask(path, { body: { ...rest, selection: { type: 'dispute.*' } } });
      await ask(path, { body: {} });
    }
    for (const path of ['/api/dead-letters', '/api/events', `/api/dead-letters/${idOf(1)}`]) await ask(path);
    expect(deeds).toEqual([]);
  });

  test('that fails stops the deed', async () => {
    const fails = [throwing('the disk is full'), async () => throwing('the disk is full')()];
    for (const audit of fails) {
      const { ask, handled, left, log } = open({ audit });
      for (const [path, rest] of [
        [REPLAY, {}],
        [DROP, {}],
        [RERUN, rerun],
      ] as const) {
        const answer = await ask(path, { body: { ...rest, ...all } });
        expect(expectProblem(answer, 503, 'audit_failed')).toBe(
          'nothing was done, because the option audit failed: the disk is full',
        );
      }
      expect([handled.length, left.size, log.mock.calls.length]).toEqual([0, 22, 0]);
    }
  });

  test('can throw any value', async () => {
    let thrown: unknown;
    const { ask, handled } = open({
      audit: () => {
        throw thrown;
      },
    });
    for (const { value } of nastyValues) {
      thrown = value;
      expectProblem(await ask(REPLAY, { body: all }), 503, 'audit_failed');
    }
    expect(handled).toEqual([]);
  });

  test('that has not answered after five seconds stops the deed', async () => {
    const pass = fakeTime();
    const { handled, left, receiver } = createOperated({ parked: letters(2) });
    const ask = fetchOperator(receiver, { audit: () => new Promise(() => {}) });
    const startedAt = performance.now();
    const answer = await passUntil(pass, ask(REPLAY, { body: all }));
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(5_000);
    expect(performance.now() - startedAt).toBeLessThan(5_500);
    expectProblem(answer, 503, 'audit_failed');
    expect([handled.length, left.size]).toEqual([0, 2]);
  });
});

describe('the log', () => {
  test('has a line of what was done', async () => {
    const { ask, log } = open();
    await ask(REPLAY, { body: { ids: [idOf(1), 'none'] } });
    await ask(DROP, { body: { ids: [idOf(2)] } });
    await ask(RERUN, { body: { ...rerun, ids: [idOf(2)] } });
    expect(log.mock.calls).toEqual([
      [`posthorn: operator=ada replay ${idOf(1)}=processed none=missing`],
      [`posthorn: operator=ada drop ${idOf(2)}=dropped`],
      [`posthorn: operator=ada rerun ${idOf(2)}=processed`],
    ]);
  });

  test('has no line of a deed that reached nothing', async () => {
    const { ask, log, receiver } = open();
    await ask(REPLAY, { body: { selection: { type: 'dispute.*' } } });
    await receiver.close();
    await ask(REPLAY, { body: all });
    expect(log.mock.calls).toEqual([]);
  });

  test('stays on one line, whatever names and ids hold', async () => {
    const hostile = 'evt\r\n2026-05-04 posthorn: operator=eve drop all\u2028\x1b[2J\0';
    const { receiver, log } = createOperated({ parked: [letter(1, { id: hostile })] });
    const authorize = () => ({ name: `ada\nposthorn: operator=eve\x1b[31m` });
    const ask = fetchOperator({ 'pay\nments': receiver }, { authorize });
    const path = `${DROP}?receiver=${encodeURIComponent('pay\nments')}`;
    await ask(path, { body: { ids: [hostile, 'x'.repeat(100_000)] } });
    const [line] = log.mock.calls.flat();
    expect(line).toMatch(/^posthorn: \[pay\\u\{a\}ments\] operator=ada\\u\{a\}posthorn: operator=eve/);
    expect(line).toContain('=dropped');
    expect(line).not.toMatch(/[\p{Cc}\u2028\u2029]/u);
    expect(String(line).length).toBeLessThan(2_000);
  });
});
