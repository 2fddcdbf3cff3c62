import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  enqueueingId,
  handlingId,
  keyId,
  PROBE_ID,
  rerunId,
  rerunTurnId,
} from '../../../src/receiver/dedupe/claim-id.ts';
import { bareKeyFunctionOf, keyFunctionOf, keyStart } from '../../../src/receiver/provider/event-key.ts';

/** Texts that look like keys of ours, as parts and as a whole. */
const text = fc
  .oneof(
    fc.string({ unit: 'binary' }),
    fc
      .array(
        fc.constantFrom('handled:', 'from:', 'accepted:', 'key:', '6:', 'stripe', ':', '-', '1:', 'a', '2:'),
      )
      .map((parts) => parts.join('')),
  )
  .filter((any) => any !== '');
const bareKey = bareKeyFunctionOf('bank');
const name = fc.constantFrom('stripe', 'acme', 'a', '1.2', 'from', 'handled');
const account = fc.option(text, { nil: undefined });
const origin = fc.record({ name, account, id: text });

describe('the key of an event', () => {
  test('is the id as it stands for the default provider, and names provider and account for any other', () => {
    expect(bareKey({ id: 'evt_1' })).toBe('evt_1');
    expect(keyFunctionOf('stripe')({ id: 'evt_1' })).toBe('handled:from:6:stripe:-:evt_1');
    expect(keyFunctionOf('stripe')({ id: 'evt_1', account: 'a:1' })).toBe(
      'handled:from:6:stripe:3:a:1:evt_1',
    );
  });

  test('is of one event alone, whatever names, accounts and ids look like', () => {
    fc.assert(
      fc.property(origin, origin, (one, other) => {
        const keys = [one, other].map((each) => keyFunctionOf(each.name)(each));
        const isSame = one.name === other.name && one.account === other.account && one.id === other.id;
        expect(keys[0] === keys[1]).toBe(isSame);
      }),
    );
  });

  test('of the default provider has the account, if there are several', () => {
    expect(bareKey({ id: 'evt_1', account: 'm17' })).toBe('handled:from:4:bank:3:m17:evt_1');
    fc.assert(
      fc.property(account, text, account, text, (account, id, otherAccount, otherId) => {
        const isSame = account === otherAccount && id === otherId;
        expect(bareKey({ account, id }) === bareKey({ account: otherAccount, id: otherId })).toBe(isSame);
      }),
    );
  });

  test('of the default provider is never that of another, and two ids never share one', () => {
    fc.assert(
      fc.property(origin, text, text, (other, id, second) => {
        const key = keyFunctionOf(other.name)(other);
        expect(bareKey({ id })).not.toBe(key);
        expect(bareKey({ id: key })).not.toBe(key);
        expect(bareKey({ id }) === bareKey({ id: second })).toBe(id === second);
      }),
    );
  });

  test('in the store is apart from those of enqueueing, of concurrency keys and of the health check', () => {
    fc.assert(
      fc.property(origin, text, text, (other, id, handler) => {
        const keys = [keyFunctionOf(other.name)(other), bareKey({ id })];
        const reserved = [keyId(handler, id), rerunId(handler, id, id), rerunTurnId(handler, id), PROBE_ID];
        const ids = [...keys.map(handlingId), ...keys.map(enqueueingId), ...reserved];
        expect(new Set(ids).size).toBe(ids.length);
      }),
    );
  });

  test('of the default provider is in the store as every version before has it', () => {
    for (const id of ['evt_1', 'handled:x', 'accepted:x', 'handled:from:1:a:-:x', 'handled:handled:from:x']) {
      const before = /^(handled|accepted):/.test(id) ? `handled:${id}` : id;
      expect(handlingId(bareKey({ id }))).toBe(before);
    }
  });

  test('begins with the part that all events of its provider and account share', () => {
    fc.assert(
      fc.property(origin, (each) => {
        const key = keyFunctionOf(each.name)(each);
        const start = keyStart({ key, id: each.id });
        expect(start + each.id).toBe(key);
        expect(keyFunctionOf(each.name)({ ...each, id: 'another' })).toBe(`${start}another`);
        expect(keyStart({ key: bareKey({ id: each.id }), id: each.id })).toBe('');
      }),
    );
  });
});
