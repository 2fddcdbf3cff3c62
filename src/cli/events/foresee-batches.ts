import { codeOf } from '../failure.ts';
import { CONNECTION_LIMIT_MS, repeat } from '../repeat.ts';

/** The number of events about which the store is asked at once. */
const AT_ONCE = 16;

/**
 * Asks about each item, and yields the items with their answers, some at a time. Repeats a question while the
 * store is not connected yet.
 */
export async function* foreseeBatches<Item, Answer>(
  items: AsyncIterable<Item>,
  ask: (item: Item) => Promise<Answer>,
): AsyncGenerator<readonly (readonly [Item, Answer])[], void, undefined> {
  const endsAt = performance.now() + CONNECTION_LIMIT_MS;
  // A client that has just been created is not connected yet.
  const isTooEarly = (error: unknown): boolean =>
    codeOf(error) === 'store_unavailable' && performance.now() < endsAt;
  const answered = async (item: Item): Promise<readonly [Item, Answer]> => [
    item,
    await repeat(() => ask(item), isTooEarly),
  ];
  for await (const batch of inBatches(items)) yield await Promise.all(batch.map(answered));
}

async function* inBatches<Item>(
  items: AsyncIterable<Item>,
): AsyncGenerator<readonly Item[], void, undefined> {
  let batch: Item[] = [];
  for await (const item of items) {
    batch.push(item);
    if (batch.length < AT_ONCE) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}
