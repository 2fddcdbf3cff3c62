import type { DeadLetters } from '../../../src/receiver/dead-letters/dead-letters.ts';
import type { CompleteRequest, Store } from '../../../src/receiver/dedupe/store.ts';
import type { StandardSchemaV1 } from '../../../src/receiver/events/schema.ts';
import { noteRelease } from './claim-promises.ts';
import { isKeyId } from './key-promises.ts';
import { noteLetter, noteLetterRemoved } from './letter-promises.ts';
import type { StoreOperation } from './pending-operation.ts';
import type { WalkProcess } from './process.ts';
import { KeyClaim, SentClaim } from './simulated-event.ts';

/** The store of the world, as a process reaches it. */
export function storeOf(process: WalkProcess): Store {
  const { world } = process;
  const { store } = world;
  const ask = <T>(kind: StoreOperation, { id, token }: CompleteRequest, perform: () => T): Promise<T> => {
    const event = store.eventOf(id);
    if (isKeyId(id)) return askForKey(process, kind, id, token, perform);
    if (event !== undefined && !world.claims.has(token))
      world.claims.set(token, new SentClaim(process, event));
    return process.send(kind, kind, event, perform, token);
  };
  const operations: Store = {
    commandTimeoutMs: world.configuration.times.commandTimeoutMs,
    claim: (request) => ask('claim', request, () => store.claim(request)),
    renew: (request) => ask('renew', request, () => store.renew(request)),
    complete: (request) => {
      // A drop, or a replay that only knows that the event was handled, does not try for ever.
      if (request.token !== 'dropped' && request.token !== 'replayed') process.completed.add(request.id);
      return ask('complete', request, () => store.complete(request));
    },
    release: (request) => {
      noteRelease(world, process, request);
      return ask('release', request, () => store.release(request));
    },
  };
  if (world.configuration.store === 'plain') return operations;
  return {
    ...operations,
    peek: (request) => process.send('peek', 'look', store.eventOf(request.id), () => store.peek(request)),
    refusesLateClaims: true,
  };
}

/** An operation on a concurrency key, which is about no event. */
function askForKey<T>(
  process: WalkProcess,
  kind: StoreOperation,
  id: string,
  token: string,
  perform: () => T,
): Promise<T> {
  const { keyClaims } = process.world;
  if (!keyClaims.has(token)) keyClaims.set(token, new KeyClaim(process));
  return process.send(kind, `${kind} of the key ${id}`, undefined, perform, token);
}

/** The letters of the world, as a process reaches them. */
export function deadLettersOf(process: WalkProcess): DeadLetters {
  const { world } = process;
  const { letters } = world;
  return {
    get: (id) =>
      process.send('get', 'reading of the letter', world.eventOf(id), () => {
        const letter = letters.get(id);
        process.namesRead.set(id, letter?.handled ?? []);
        return letter;
      }),
    put: (letter) =>
      process.send('put', 'writing of the letter', world.eventOf(letter.id), () => {
        noteLetter(world, process, letter);
        letters.set(letter.id, letter);
      }),
    remove: (id) =>
      process.send('remove', 'removal of the letter', world.eventOf(id), () => {
        noteLetterRemoved(world, id);
        return letters.delete(id);
      }),
    list: async function* () {
      yield* letters.values();
    },
  };
}

/** A schema that answers when the world says. */
export function schemaOf(process: WalkProcess): StandardSchemaV1 {
  const validate = (value: unknown) => process.send('schema', 'schema', undefined, () => ({ value }));
  return { '~standard': { version: 1, vendor: 'world', validate } };
}
