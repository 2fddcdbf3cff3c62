import assert from 'node:assert/strict';
import { standardWebhooks } from '../../providers/standard-webhooks/standard-webhooks.ts';
import type { DeadLetter } from '../../receiver/dead-letters/dead-letters.ts';
import type { Store } from '../../receiver/dedupe/store.ts';
import { PermanentError } from '../../receiver/errors.ts';
import { pause, performance } from '../../receiver/timing/process-clock.ts';
import { createMemoryStore } from '../../stores/memory/memory.ts';
import { deliverTo, type Endpoint, keptIn, type Requirements, type SentRequest, Subject } from './subject.ts';

/**
 * The time that a slow store takes. It is below two seconds, after which a store is asked again, and below
 * the time of a dead letter, a fourth of the deadline, which is five sixths of the sender's wait.
 */
function slowMsOf({ provider }: Subject): number {
  return Math.min(1_900, provider.answerWithinMs / 6);
}

/** The requirements on events. */
export const events: Requirements = {
  'an event is handled once, with its id, its type and its key': async (subject) => {
    const endpoint = subject.open();
    assert.deepEqual(await deliverTo(endpoint, subject.request()), { status: 200, says: 'processed' });
    const [event, ...others] = endpoint.handled;
    assert.deepEqual([event?.type, event?.provider], [subject.type, subject.provider.name]);
    // Some senders give an id to an action, and several events share it: the provider adds what differs.
    assert.ok(event?.id.endsWith(subject.id));
    assert.ok(event?.key.endsWith(event.id));
    assert.equal(others.length, 0);
  },
  'an event that is sent again is a duplicate': async (subject) => {
    const endpoint = subject.open();
    await deliverTo(endpoint, subject.request());
    const later = subject.request({ signedAtMs: Date.now() + 2_000 });
    assert.deepEqual(await deliverTo(endpoint, later), { status: 200, says: 'duplicate' });
    assert.equal(endpoint.handled.length, 1);
  },
  'an event that is not UTF-8 is parked, and no handler runs': async (subject) => {
    const body = Buffer.from(subject.body());
    // In the middle of the id if the body has one, so that a lenient decoder finds an event.
    body[Math.max(body.indexOf(subject.id), body.indexOf('"')) + 1] = 0xff;
    await expectParked(subject.open(), subject.signed(body));
  },
  'a body that is not an event is parked, and no handler runs': async (subject) => {
    for (const body of ['null', '[]', 'a=1', '']) await expectParked(subject.open(), subject.signed(body));
  },
  'the key of an event is the same when it is sent again': async (subject) => {
    let fails = true;
    const handler = (): void => {
      if (fails) throw new Error('the first attempt');
    };
    const endpoint = subject.open({ handler });
    const { status } = await deliverTo(endpoint, subject.request());
    fails = false;
    const later = subject.request({ signedAtMs: Date.now() + 2_000 });
    assert.equal((await deliverTo(endpoint, later)).status, 200);
    // A sender without retries has its event parked by the first attempt.
    assert.equal(status, subject.provider.retries === 'none' ? 200 : 500);
    assert.equal(new Set(endpoint.handled.map(({ key }) => key)).size, 1);
  },
  'the event of a dead letter is handled by a replay, with the same key': async (subject) => {
    let fails = true;
    const handler = (): void => {
      if (fails) throw new PermanentError('the first attempt');
    };
    const endpoint = subject.open({ handler });
    assert.deepEqual(await deliverTo(endpoint, subject.request()), { status: 200, says: 'parked' });
    fails = false;
    const [letter] = endpoint.letters.values();
    assert.ok(letter !== undefined);
    assert.equal((await endpoint.receiver.replay(letter)).outcome, 'processed');
    assert.equal(endpoint.letters.size, 0);
    assert.equal(endpoint.handled.length, 2);
    assert.deepEqual(endpoint.handled[0], endpoint.handled[1]);
  },
  'an event of another provider with the same id is another event': async (subject) => {
    const store = createMemoryStore();
    const provider = standardWebhooks({ name: `${subject.provider.name.slice(0, 60)}-2` });
    assert.ok(provider.testing !== undefined);
    const other = new Subject(provider, { ...provider.testing, type: subject.type }, subject.id);
    for (const sender of [subject, other]) {
      const endpoint = sender.open({ store });
      assert.deepEqual(await deliverTo(endpoint, sender.request()), { status: 200, says: 'processed' });
    }
  },
  'with a slow store and slow dead letters, the sender is answered in time': async (subject) => {
    const letters = new Map<string, DeadLetter>();
    const { put, ...others } = keptIn(letters);
    const handler = (): never => {
      throw new PermanentError('it is parked');
    };
    const endpoint = subject.open({
      store: slow(createMemoryStore(), slowMsOf(subject)),
      deadLetters: { ...others, put: late((letter: DeadLetter) => put(letter), slowMsOf(subject)) },
      handler,
    });
    const began = performance.now();
    const answer = await deliverTo(endpoint, subject.request());
    assert.ok(performance.now() - began < subject.provider.answerWithinMs);
    assert.deepEqual([answer.says, letters.size], ['parked', 1]);
  },
};

async function expectParked(endpoint: Endpoint, request: SentRequest): Promise<void> {
  const { status } = await deliverTo(endpoint, request);
  assert.deepEqual([status, endpoint.letters.size, endpoint.handled.length], [200, 1, 0]);
}

function late<Request, Result>(
  call: (request: Request) => Result | Promise<Result>,
  ms: number,
): (request: Request) => Promise<Result> {
  return async (request) => {
    await pause(ms);
    return await call(request);
  };
}

function slow(store: Store, ms: number): Store {
  return {
    claim: late(store.claim, ms),
    renew: late(store.renew, ms),
    complete: late(store.complete, ms),
    release: late(store.release, ms),
  };
}
