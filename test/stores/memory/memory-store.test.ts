import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createMemoryStore, type Store } from 'posthorn';
import { expect, test } from 'vitest';
import { packageRoot } from '../../support/child-program.ts';
import { type StoreOperation, storeOperations } from '../kit/store-operations.ts';
import {
  countedAnswer,
  LEASE_TICKS,
  operate,
  type StoreAnswer,
  type StoreRecord,
  tick,
} from './store-model.ts';

const TICK_MS = 1_000;
const tokens = ['a', 'b', 'c'];

type Command = 'tick' | { readonly operation: StoreOperation; readonly token: string };

const commands: readonly Command[] = [
  'tick',
  ...storeOperations.flatMap((operation) => tokens.map((token) => ({ operation, token }))),
];

/** Runs commands on a real memory store; the last one's answer. */
async function answerOf(path: readonly Command[]): Promise<StoreAnswer | undefined> {
  let now = 0;
  const store = createMemoryStore({ maxEntries: 10, now: () => now });
  let answer: StoreAnswer | undefined;
  for (const command of path) {
    if (command === 'tick') now += TICK_MS;
    else answer = countedAnswer(await run(store, command));
  }
  return answer;
}

async function run(store: Store, { operation, token }: Exclude<Command, 'tick'>): Promise<StoreAnswer> {
  const request = { id: 'evt_1', token, leaseMs: LEASE_TICKS * TICK_MS, retentionMs: 1e9, handled: [] };
  return store[operation](request);
}

test('the memory store answers each operation in each state as the model does', async () => {
  const first: StoreRecord = { state: 'absent' };
  const paths = new Map<string, readonly Command[]>([[JSON.stringify(first), []]]);
  // A Map is iterated in the order of insertion, and gets to what was added meanwhile: breadth first.
  for (const [text, path] of paths) {
    const record: StoreRecord = JSON.parse(text);
    for (const command of commands) {
      const next =
        command === 'tick' ? tick(record) : operate(record, command.operation, command.token).record;
      if (command !== 'tick') {
        const { answer } = operate(record, command.operation, command.token);
        expect(await answerOf([...path, command]), JSON.stringify([...path, command])).toEqual(answer);
      }
      const nextText = JSON.stringify(next);
      if (!paths.has(nextText)) paths.set(nextText, [...path, command]);
    }
  }
  const page = readFileSync(join(packageRoot, 'test', 'simulation', 'README.md'), 'utf8');
  expect(page).toContain(`a model of ${paths.size} states`);
  process.stdout.write(`the store has ${paths.size} states\n`);
});
