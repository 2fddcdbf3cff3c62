import { randomUUID } from 'node:crypto';
import { createReceiver, type DeadLetters, type Store } from 'posthorn';
import { createEvent } from 'posthorn/testing';
import { expect } from 'vitest';
import { KEY, serve } from '../redis/deliveries.ts';
import { createLetter, idsOf } from './conformance.ts';

/** What one server keeps for one scope. */
export interface ScopeOnServer {
  readonly deadLetters: DeadLetters;
  readonly store: Store;
}

/** A promise of dead letters on a server; `open` gives those of a scope. */
export interface ServerDeadLettersCase {
  readonly name: string;
  readonly check: (open: (scope: string) => ScopeOnServer) => Promise<void>;
}

const promises: Record<string, ServerDeadLettersCase['check']> = {
  'letters of one moment are listed in the order of their writing, one in place of another with its id':
    async (open) => {
      const { deadLetters } = open(randomUUID());
      const ids = Array.from({ length: 30 }, () => randomUUID());
      for (const id of ids) await deadLetters.put(createLetter({ id }));
      await deadLetters.put(createLetter({ id: ids[3] ?? '', attempts: 7 }));
      expect(await idsOf(deadLetters)).toEqual(ids);
      expect((await deadLetters.get(ids[3] ?? ''))?.attempts).toBe(7);
      expect(await idsOf(deadLetters, { after: ids[3], limit: 2 })).toEqual(ids.slice(4, 6));
      expect(await idsOf(deadLetters, { after: ids.at(-1) })).toEqual([]);
    },
  'a letter that is parked again in a later moment, or after its removal, comes after those of that moment':
    async (open) => {
      const { deadLetters } = open(randomUUID());
      for (const id of ['1', '2', '3']) await deadLetters.put(createLetter({ id, parkedAt: 1_000 }));
      for (const id of ['4', '5']) await deadLetters.put(createLetter({ id, parkedAt: 2_000 }));
      await deadLetters.put(createLetter({ id: '1', parkedAt: 2_000 }));
      expect(await idsOf(deadLetters)).toEqual(['2', '3', '4', '5', '1']);
      await deadLetters.remove('2');
      await deadLetters.put(createLetter({ id: '2', parkedAt: 1_000 }));
      expect(await idsOf(deadLetters)).toEqual(['3', '2', '4', '5', '1']);
    },
  'a list goes on after a letter that is gone, with those of its moment and of later ones': async (open) => {
    const { deadLetters } = open(randomUUID());
    const parkedAt = 1_000;
    for (const id of ['1', '2', '3', '4']) await deadLetters.put(createLetter({ id, parkedAt }));
    await deadLetters.remove('2');
    expect(await idsOf(deadLetters, { after: '2' })).toEqual(['3', '4']);
    for await (const { id } of deadLetters.list()) await deadLetters.remove(id);
    expect(await idsOf(deadLetters)).toEqual([]);
    await deadLetters.put(createLetter({ id: '5', parkedAt: parkedAt + 1 }));
    expect(await idsOf(deadLetters, { after: '4' })).toEqual(['5']);
  },
  'a list comes to its end, though the letter just seen is taken out and parked anew': async (open) => {
    const { deadLetters } = open(randomUUID());
    for (const id of ['1', '2', '3']) await deadLetters.put(createLetter({ id }));
    const seen: string[] = [];
    for await (const { id } of deadLetters.list()) {
      seen.push(id);
      if (seen.length > 1) continue;
      await deadLetters.remove(id);
      await deadLetters.put(createLetter({ id }));
    }
    expect(seen).toEqual(['1', '2', '3']);
  },
  'letters of two scopes are apart': async (open) => {
    const one = open(randomUUID()).deadLetters;
    const other = open(randomUUID()).deadLetters;
    await one.put(createLetter({ id: 'a' }));
    expect(await other.get('a')).toBeUndefined();
    expect(await idsOf(other)).toEqual([]);
    expect(await other.remove('a')).toBe(false);
    expect(await idsOf(one)).toEqual(['a']);
  },
  'a poison event is parked, and a replay takes it out': async (open) => {
    const { deadLetters, store } = open(randomUUID());
    let isMended = false;
    const receiver = createReceiver({ signingKey: KEY, deadLetters, store })
      .on('*', () => {
        if (!isMended) throw new Error('poison');
      })
      .observe(() => {});
    const deliver = await serve(receiver);
    const event = {
      ...createEvent('transfer.failed'),
      created_at: new Date(Date.now() - 1_000_000).toISOString(),
    };
    expect(await deliver(event)).toMatchObject({ status: 200, outcome: 'parked' });
    isMended = true;
    for await (const letter of deadLetters.list()) {
      expect((await receiver.replay(letter)).outcome).toBe('processed');
    }
    expect(await idsOf(deadLetters)).toEqual([]);
    expect((await deliver(event)).outcome).toBe('duplicate');
  },
};

/** What dead letters on a server must do besides `deadLettersConformance`. */
export const serverDeadLettersConformance: readonly ServerDeadLettersCase[] = Object.entries(promises).map(
  ([name, check]) => ({ name, check }),
);
