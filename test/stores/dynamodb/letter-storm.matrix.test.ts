import { createHash, randomBytes } from 'node:crypto';
import type { DeadLetters } from 'posthorn';
import { createDynamoDeadLetters } from 'posthorn/dynamodb';
import { afterEach, expect, test } from 'vitest';
import { randomPause } from '../../support/random-pause.ts';
import { createLetter } from '../kit/conformance.ts';
import { useDynamo } from './fixture.ts';
import { type Exchange, pass, type Treatment } from './proxy.ts';

const STORM_MS = 15_000;
/** The answers that are lost, of those to writes of the letter's own item and of the others. */
const LOST_SHARE = { item: 0.4, other: 0.1 };
const LATE_SHARE = 0.1;
const IDS = ['one', 'two'];

const dynamo = useDynamo();
const { table } = dynamo;
afterEach(() => {
  dynamo.proxy.treat = () => pass;
});

const hashOf = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');
const within = (most: number) => Math.floor(Math.random() * most);

/** The answer is lost after the write, or a request arrives once more, late. */
function chooseTreatment({ parameters }: Exchange): Treatment {
  const chance = Math.random();
  const lostShare = parameters.includes('#dead-letters') ? LOST_SHARE.item : LOST_SHARE.other;
  if (chance < lostShare)
    return async ({ run, cut }) => {
      await run();
      // Others write the letter before its writer knows.
      void randomPause(400).then(cut);
    };
  if (chance > lostShare + LATE_SHARE) return pass;
  return async (exchange) => {
    await pass(exchange);
    void randomPause(1_000)
      .then(() => exchange.run())
      .catch(() => {});
  };
}

/** What is known about a letter. */
class Knowledge {
  /** How many removals have begun. */
  removals = 0;
  #removalsUnderWay = 0;
  /** A letter was stored, and no removal has begun since its writing began. */
  isStored = false;

  async put(work: () => Promise<void>): Promise<void> {
    const { removals } = this;
    const mayBeRemoved = this.#removalsUnderWay > 0;
    await work();
    if (!mayBeRemoved && removals === this.removals) this.isStored = true;
  }

  async remove(work: () => Promise<unknown>): Promise<void> {
    this.removals += 1;
    this.#removalsUnderWay += 1;
    this.isStored = false;
    try {
      await work();
    } finally {
      this.#removalsUnderWay -= 1;
    }
  }
}

const counts = { put: 0, removed: 0, read: 0, absent: 0, failed: 0 };
const knowledge = new Map(IDS.map((id) => [id, new Knowledge()]));

function anyLetter(): readonly [string, Knowledge] {
  const id = IDS[within(IDS.length)] ?? '';
  return [id, knowledge.get(id) ?? new Knowledge()];
}

async function put(deadLetters: DeadLetters, id: string, known: Knowledge): Promise<void> {
  const rawBody = randomBytes(Math.random() < 0.7 ? 240_000 + within(200_000) : 10);
  const letter = createLetter({ id, rawBody, message: hashOf(rawBody), parkedAt: 1 + within(5) });
  await known.put(() => deadLetters.put(letter));
  counts.put += 1;
}

async function read(deadLetters: DeadLetters, id: string, known: Knowledge): Promise<void> {
  const { isStored, removals } = known;
  const letter = await deadLetters.get(id);
  if (letter === undefined) {
    counts.absent += 1;
    if (isStored && removals === known.removals) throw new Error(`the letter ${id} is lost`);
    return;
  }
  counts.read += 1;
  if (hashOf(letter.rawBody) !== letter.message) throw new Error(`the letter ${id} is mixed`);
}

/** Another process reads the letters all the time. */
async function act(deadLetters: DeadLetters): Promise<void> {
  const [id, known] = anyLetter();
  if (Math.random() < 0.8) return put(deadLetters, id, known);
  await known.remove(() => deadLetters.remove(id));
  counts.removed += 1;
}

const isUnavailable = (error: unknown) => Reflect.get(Object(error), 'code') === 'dead_letters_unavailable';

test('three writers, lost answers and requests that arrive once more: each letter is whole or removed', async () => {
  // posthorn tries again sooner than the SDK does.
  const open = () =>
    createDynamoDeadLetters(dynamo.openClient({ maxAttempts: 1 }), { table, scope: 'storm' });
  dynamo.proxy.treat = chooseTreatment;
  const end = performance.now() + STORM_MS;
  const errors: unknown[] = [];
  const repeat = async (work: () => Promise<void>) => {
    while (performance.now() < end) {
      await work().catch((error: unknown) => {
        if (isUnavailable(error)) counts.failed += 1;
        else errors.push(error);
      });
    }
  };
  const writers = [open(), open(), open()].map((deadLetters) => repeat(() => act(deadLetters)));
  const reader = createDynamoDeadLetters(dynamo.client, { table, scope: 'storm' });
  const reading = repeat(() => read(reader, ...anyLetter()));
  await Promise.all([...writers, reading]);
  dynamo.proxy.treat = () => pass;
  const parts = (await dynamo.items('storm#letter-parts')).length;
  process.stdout.write(`storm of letters: ${JSON.stringify({ ...counts, parts })}\n`);
  expect(errors).toEqual([]);
  const calm = open();
  for (const id of IDS) await put(calm, id, knowledge.get(id) ?? new Knowledge());
  for (const id of IDS) await read(calm, id, knowledge.get(id) ?? new Knowledge());
  expect(counts.put).toBeGreaterThan(20);
});
