import * as fc from 'fast-check';
import { createMemoryStore, type Store } from 'posthorn';
import { describe, expect, test } from 'vitest';
import {
  enqueueingId,
  handlingId,
  keyId,
  PROBE_ID,
  rerunId,
  rerunTurnId,
} from '../../../src/receiver/dedupe/claim-id.ts';
import { toKey } from '../../../src/receiver/dedupe/store.ts';
import { HeldHandler } from '../../support/held-handler.ts';
import { accepted, on, openDirectly } from '../../support/open-endpoint.ts';
import { byResource, eventOf, KEY_A } from '../handling/keys/keyed-events.ts';

/** Texts that look like ids of ours, as parts and as a whole. */
const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc
    .array(
      fc.constantFrom(
        ...['accepted:', 'handled:', 'key:', 'rerun:', 'rerun-turn:', '4:', 'book:', 'a', '1', ':', 'health'],
        'sha256:',
      ),
    )
    .map((parts) => parts.join('')),
);
const id = text.filter((any) => any !== '');
const named = fc.record({ name: id, key: id });

/** Every id in the store that an event can have, as the receivers of all versions form it. */
const storedForms = (event: string) => [handlingId(event), enqueueingId(event)];

const rerun = fc.record({ handler: id, run: id, event: id });

describe('ids in the store', () => {
  // Receivers of earlier versions form these too, so that a rolling deploy has both beside each other.
  test.each([
    ['evt_1', 'evt_1', 'accepted:evt_1'],
    [KEY_A, 'handled:handled:key:4:book:a', 'accepted:handled:key:4:book:a'],
    [
      'handled:handled:key:4:book:a',
      'handled:handled:handled:key:4:book:a',
      'accepted:handled:handled:key:4:book:a',
    ],
    ['key:4:book:a', 'key:4:book:a', 'accepted:key:4:book:a'],
    ['accepted:evt_1', 'handled:accepted:evt_1', 'accepted:accepted:evt_1'],
  ])(
    'the event %s is handled as %s and enqueued as %s, as by every version before',
    (event, handled, enqueued) => {
      expect([handlingId(event), enqueueingId(event)]).toEqual([handled, enqueued]);
    },
  );

  test('a key has the name of its handler with its length before it', () => {
    expect(keyId('book', 'a')).toBe('handled:key:4:book:a');
    expect(keyId('book:a', '')).toBe('handled:key:6:book:a:');
    expect(keyId('📚', 'ü')).toBe('handled:key:2:📚:ü');
  });

  test('no event has the id of a key, whatever its id', () => {
    fc.assert(
      fc.property(id, named, (event, { name, key }) => {
        const keyed = keyId(name, key);
        for (const event_ of [event, keyed, keyed.slice('handled:'.length)])
          for (const stored of storedForms(event_)) {
            expect(stored).not.toBe(keyed);
            expect(toKey(stored)).not.toBe(toKey(keyed));
          }
        expect(keyed).not.toBe(PROBE_ID);
      }),
    );
  });

  test('two keys have one id only if name and key are the same', () => {
    fc.assert(
      fc.property(named, named, (one, other) => {
        const isSame = one.name === other.name && one.key === other.key;
        expect(keyId(one.name, one.key) === keyId(other.name, other.key)).toBe(isSame);
      }),
      {
        examples: [
          [
            { name: 'a', key: 'b:c' },
            { name: 'a:b', key: 'c' },
          ],
          [
            { name: 'a', key: 'a' },
            { name: 'a', key: 'a' },
          ],
        ],
      },
    );
  });

  // A later version must find the reruns that this one has completed.
  test('a rerun has the names of its handler and its run, with their lengths before them', () => {
    expect(rerunId('book', 'fix-1127', 'evt_1')).toBe('handled:rerun:4:book:8:fix-1127:evt_1');
    expect(rerunTurnId('book', 'evt_1')).toBe('handled:rerun-turn:4:book:evt_1');
  });

  test('no event, key or probe has the id of a rerun or of its turn, whatever their ids', () => {
    fc.assert(
      fc.property(id, named, rerun, (event, { name, key }, { handler, run, event: rerunEvent }) => {
        const turn = rerunTurnId(handler, rerunEvent);
        const done = rerunId(handler, run, rerunEvent);
        expect(done).not.toBe(turn);
        for (const reserved of [turn, done])
          for (const event_ of [event, reserved, reserved.slice('handled:'.length)])
            for (const stored of [...storedForms(event_), keyId(name, key), PROBE_ID]) {
              expect(stored).not.toBe(reserved);
              expect(toKey(stored)).not.toBe(toKey(reserved));
            }
      }),
    );
  });

  test('two reruns have one id only if handler, run and event are the same', () => {
    const parts = { handler: 'a', run: 'b', event: 'c' };
    fc.assert(
      fc.property(rerun, rerun, (one, other) => {
        const isSameTurn = one.handler === other.handler && one.event === other.event;
        const idOf = ({ handler, run, event }: typeof one) => rerunId(handler, run, event);
        const turnOf = ({ handler, event }: typeof one) => rerunTurnId(handler, event);
        expect(turnOf(one) === turnOf(other)).toBe(isSameTurn);
        expect(idOf(one) === idOf(other)).toBe(isSameTurn && one.run === other.run);
      }),
      {
        examples: [
          [parts, parts],
          [
            { handler: 'a', run: 'b:1:c', event: 'd' },
            { handler: 'a', run: 'b', event: '1:c:d' },
          ],
          [
            { handler: 'a:1:b', run: 'c', event: 'd' },
            { handler: 'a', run: 'b:1:c', event: 'd' },
          ],
        ],
      },
    );
  });
});

/** The rule of the versions before keys, which a rolling deploy has beside this one. */
function claimOfOldVersion(store: Store, event: string) {
  const isEscaped = event.startsWith('accepted:') || event.startsWith('handled:');
  const stored = isEscaped ? `handled:${event}` : event;
  return store.claim({ id: stored, token: 'an old version', leaseMs: 60_000, retentionMs: 60_000 });
}

describe('an event whose id looks like that of a key', () => {
  test('is handled while the key is held, and is a duplicate after that', async () => {
    const store = createMemoryStore();
    const held = new HeldHandler();
    const { send } = openDirectly({ store }, (receiver) =>
      receiver.on('transfer.*', held.handle, byResource).on('dispute.*', () => {}),
    );
    const first = send(eventOf('a'));
    await held.calls.nth(1);
    const event = { ...eventOf('b'), id: KEY_A, type: 'dispute.created' };
    expect(await send(event)).toEqual(accepted('processed', KEY_A));
    expect(await send(event)).toEqual(accepted('duplicate', KEY_A));
    held.calls.all[0]?.succeed();
    expect(await first).toHaveProperty('status', 200);
    // Its completion does not complete the key.
    const second = send(eventOf('a'));
    (await held.calls.nth(2)).succeed();
    expect(await second).toHaveProperty('status', 200);
  });

  test('does not meet the key in an earlier version either', async () => {
    const store = createMemoryStore();
    const held = new HeldHandler();
    const { send } = openDirectly({ store }, on('transfer.*', held.handle, byResource));
    const first = send(eventOf('a'));
    await held.calls.nth(1);
    expect(await claimOfOldVersion(store, KEY_A)).toMatchObject({ state: 'claimed', attempt: 1 });
    held.calls.all[0]?.succeed();
    expect(await first).toHaveProperty('status', 200);
    // And the old version's event is the same one here.
    await store.complete({
      id: 'handled:handled:key:4:book:a',
      token: 'an old version',
      retentionMs: 60_000,
    });
    expect(await send({ ...eventOf('c'), id: KEY_A })).toEqual(accepted('duplicate', KEY_A));
  });
});
