import { randomUUID } from 'node:crypto';
import type { ReleaseRequest, Store } from 'posthorn';
import { expect } from 'vitest';
import { comparable, StoreModel } from './model.ts';

/** Far longer than the test, so that nothing ends within it. */
const LONG_MS = 3_600_000;

type Step = 'claim' | 'release' | 'step of the other claim';

const STEPS: readonly Step[] = [
  'claim',
  'claim',
  'release',
  'step of the other claim',
  'step of the other claim',
];

/** A claim of a run or of a hold, and how another claim ends. */
const kinds = ['a', 'hold:a'].flatMap((token) =>
  (['complete', 'release'] as const).map((end) => ({ token, end })),
);
type Kind = (typeof kinds)[number];

/** All orders of the steps, each once. */
function ordersOf(steps: readonly Step[]): readonly (readonly Step[])[] {
  if (steps.length === 0) return [[]];
  return [...new Set(steps)].flatMap((first) => {
    const others = steps.toSpliced(steps.indexOf(first), 1);
    return ordersOf(others).map((order) => [first, ...order]);
  });
}

function requestOf(token: string, request: Partial<ReleaseRequest> = {}) {
  return { id: randomUUID(), token, leaseMs: LONG_MS, retentionMs: LONG_MS, handled: [], ...request };
}

/** One id of a store and of the model of it, whose answers are compared. */
class Subject {
  readonly #store: Store;
  readonly #model = new StoreModel();
  readonly #id = randomUUID();
  readonly #name: string;

  constructor(store: Store, name: string) {
    this.#store = store;
    this.#name = name;
  }

  async ask(operation: 'claim' | 'complete' | 'release', token: string, refuseClaimsMs = 0): Promise<string> {
    const request = requestOf(token, { id: this.#id, refuseClaimsMs });
    const answer = { ...(await this.#store[operation](request)), firstClaimedMsAgo: 0, msLeft: 0 };
    const expected = { ...this.#model[operation](request), firstClaimedMsAgo: 0, msLeft: 0 };
    expect(comparable(answer), `${this.#name}: ${operation} of ${token}`).toEqual(comparable(expected));
    expect(answer, this.#name).not.toHaveProperty('abandoned', 1);
    return answer.state;
  }
}

/** Claims the id until it has it, and then ends. */
class OtherClaim {
  state = 'unclaimed';
  readonly #subject: Subject;
  readonly #end: Kind['end'];

  constructor(subject: Subject, end: Kind['end']) {
    this.#subject = subject;
    this.#end = end;
  }

  async step(): Promise<void> {
    if (this.state === 'claimed') {
      await this.#subject.ask(this.#end, 'b');
      this.state = 'ended';
    } else if (this.state !== 'ended') this.state = await this.#subject.ask('claim', 'b');
  }
}

async function checkOrder(store: Store, order: readonly Step[], { token, end }: Kind): Promise<void> {
  const name = `${order.join(', ')}; ${token}, ${end}`;
  const subject = new Subject(store, name);
  const other = new OtherClaim(subject, end);
  let isReleased = false;
  for (const step of order) {
    if (step === 'step of the other claim') {
      await other.step();
      if (isReleased) expect(other.state, name).not.toBe('busy');
    } else {
      const state = await subject.ask(step, token, step === 'release' ? LONG_MS : 0);
      isReleased ||= step === 'release';
      if (isReleased) expect(state, name).not.toBe('claimed');
    }
  }
  while (other.state !== 'ended') {
    await other.step();
    expect(other.state, name).not.toBe('busy');
  }
  expect(await subject.ask('claim', 'c'), name).toBe(end === 'complete' ? 'completed' : 'claimed');
}

/** At once, over two connections: no order may leave the id with the claim that was released. */
async function checkAtOnce(one: Store, other: Store): Promise<void> {
  const request = requestOf('a', { refuseClaimsMs: LONG_MS });
  await Promise.all([one.claim(request), one.claim(request), other.release(request), one.claim(request)]);
  expect(await one.claim(request)).toMatchObject({ state: 'busy' });
  expect(await other.claim({ ...request, token: 'b' })).toMatchObject({ state: 'claimed', abandoned: 0 });
}

/** A second release, which refuses no claims, does not end the refusal. */
async function checkReleasedAgain(store: Store): Promise<void> {
  const request = requestOf('a');
  await store.claim(request);
  await store.release({ ...request, refuseClaimsMs: LONG_MS });
  expect(await store.release(request)).toEqual({ state: 'released' });
  expect(await store.claim(request)).toMatchObject({ state: 'busy' });
}

/**
 * In whatever order a claim, its repeat, their release and the steps of another claim take effect: the claim
 * has the id no more after its release, shuts out no other one, is not abandoned, and undoes no completion.
 * The two stores share their ids.
 */
export async function expectLateClaimsRefused(one: Store, other: Store): Promise<void> {
  await Promise.all(ordersOf(STEPS).flatMap((order) => kinds.map((kind) => checkOrder(one, order, kind))));
  await Promise.all(Array.from({ length: 20 }, () => checkAtOnce(one, other)));
  await checkReleasedAgain(one);
}
