import type { Receiver, Report } from 'posthorn';
import { createEvent } from 'posthorn/testing';
import { expect, test } from 'vitest';
import { deliveryOf } from '../../support/delivery-of.ts';
import { usePrintedErrors } from '../../support/printed-errors.ts';
import { createUnobserved } from '../../support/unobserved-receiver.ts';

const { printed } = usePrintedErrors();

function create(): Receiver {
  return createUnobserved().on('transfer.succeeded', () => {});
}

async function send(receiver: Receiver, types: readonly string[]): Promise<void> {
  for (const type of types) {
    const { body } = await receiver.receive(deliveryOf(createEvent(type, undefined, { any: true })));
    expect(JSON.parse(body)).toMatchObject({ outcome: 'ignored' });
  }
}

test('a type that no handler wants is told once, with what was answered and the way out', async () => {
  await send(create(), ['dispute.won', 'invented.created', 'dispute.won', 'invented.created']);
  expect(printed()).toEqual([
    'posthorn: no handler wants events of the type "dispute.won": they are answered 200 "ignored" and not sent ' +
      "again. Handle them with on() or onUnhandled(), or leave them out of the webhook's enabled_events",
    expect.stringContaining('of the type "invented.created": '),
  ]);
});

test('after 100 types one more line says that there are others, and no type is remembered any more', async () => {
  const types = Array.from({ length: 103 }, (_, index) => `payout.type_${index}`);
  const receiver = create();
  await send(receiver, types);
  await send(receiver, types.slice(98));
  expect(printed()).toHaveLength(101);
  expect(printed().at(-1)).toContain('events of more than 100 types: ');
});

test('a type of any length and characters takes one short line', async () => {
  await send(create(), [`payout.\n\u001b[2J\u202e${'x'.repeat(500_000)}`, 'payout.\ud800']);
  expect(printed()).toHaveLength(2);
  for (const line of printed()) {
    expect(line.length).toBeLessThan(500);
    expect(line).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u);
  }
});

test('of a long type only the beginning is remembered', async () => {
  const long = `payout.${'x'.repeat(500_000)}`;
  await send(create(), [long, `${long}y`]);
  expect(printed()).toHaveLength(1);
});

test('with an observer nothing is printed: it has the report', async () => {
  const outcomes: Report['outcome'][] = [];
  await send(
    create().observe(({ outcome }) => outcomes.push(outcome)),
    ['dispute.won'],
  );
  expect([outcomes, printed()]).toEqual([['ignored'], []]);
});
