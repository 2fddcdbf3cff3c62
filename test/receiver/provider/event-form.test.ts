import { createReceiver, defineProvider } from 'posthorn';
import { expect, test } from 'vitest';

/** A sender whose events have no member of the name `type`. */
const provider = defineProvider({
  name: 'acme',
  signature: { verify: () => true },
  types: ['order.paid', 'order.sent'],
  readEvent: ({ rawBody }) => {
    const event = JSON.parse(Buffer.from(rawBody).toString());
    return { id: event.event_id, type: event.kind, event };
  },
  answerWithinMs: 10_000,
  retries: [60_000],
});

async function outcomeOf(receiver: ReturnType<typeof create>, kind: string): Promise<unknown> {
  const body = JSON.stringify({ event_id: 'e1', kind, data: { amount: '1250' } });
  const reply = await receiver.receive({ method: 'POST', headers: {}, readBody: () => body });
  return JSON.parse(String(reply.body)).outcome;
}

const create = () => createReceiver({ provider, signingKey: 'k' }).observe(() => {});

test("an event is handled by the type that the provider read, whatever the sender's form has", async () => {
  const seen: unknown[] = [];
  const receiver = create();
  receiver.on('order.paid', (event, context) => seen.push([event, context.event.type]));
  expect(await outcomeOf(receiver, 'order.paid')).toBe('processed');
  expect(seen).toEqual([[{ event_id: 'e1', kind: 'order.paid', data: { amount: '1250' } }, 'order.paid']]);
});

test.each(['order.sent', 'order.lost'])('onUnhandled is told whether the type %s is known', async (kind) => {
  const seen: boolean[] = [];
  const receiver = create();
  receiver.on('order.paid', () => {}).onUnhandled((_event, { known }) => seen.push(known));
  expect(await outcomeOf(receiver, kind)).toBe('processed');
  expect(seen).toEqual([kind === 'order.sent']);
});

test('the schema of its entity checks its data', async () => {
  const validate = (value: unknown) =>
    typeof value === 'object' ? { value: { amount: 1250 } } : { issues: [{ message: 'it is no object' }] };
  const order = { '~standard': { version: 1, vendor: 'test', validate } } as const;
  const seen: unknown[] = [];
  const receiver = createReceiver({ provider, signingKey: 'k', schemas: { order } }).observe(() => {});
  receiver.on('order.paid', (event) => seen.push(event));
  const body = JSON.stringify({ event_id: 'e1', kind: 'order.paid', data: {} });
  await receiver.receive({ method: 'POST', headers: {}, readBody: () => body });
  expect(seen).toEqual([{ event_id: 'e1', kind: 'order.paid', data: { amount: 1250 } }]);
});
