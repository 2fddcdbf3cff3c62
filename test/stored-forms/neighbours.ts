import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { ClaimResult, Store } from 'posthorn';
import { expect, test } from 'vitest';
import { until } from '../support/until.ts';
import type { Version } from './version.ts';

/** Stores of one scope on one server. */
interface Neighbours {
  readonly former: Store;
  readonly today: Store;
}

/** What becomes of holds and refusals if the former version handles the same id. */
interface Losses {
  /** The number of abandoned runs that the former version counts for a hold that has run out. */
  readonly abandoned: 0 | 1;
  /** The answer to a late claim after the former version has claimed the id: the refusal may be lost then. */
  readonly late: 'busy' | 'claimed';
}

/** Loads a module of an earlier version, such as `redis`. */
export const loadFormer = ({ root }: Version, name: string) =>
  import(pathToFileURL(join(root, 'dist', 'src', name, 'index.js')).href);

const TERMS = { leaseMs: 60_000, retentionMs: 600_000, attemptSpacingMs: 30_000, handled: [] };
const of = (id: string, token: string) => ({ id, token, ...TERMS });

/** Proves that holds, refusals and looks of today do no harm to a former version, and the other way round. */
export function testNeighbours(open: () => Promise<Neighbours>, { abandoned, late }: Losses): void {
  /** Claims an id once the lease that holds it is over. */
  async function afterLease(store: Store, request: ReturnType<typeof of>): Promise<ClaimResult> {
    let claim: ClaimResult = { state: 'completed' };
    await until(`${request.id} is claimed`, async () => {
      claim = await store.claim(request);
      return claim.state === 'claimed';
    });
    return claim;
  }

  test('a hold of today keeps off the former version, which takes it for no attempt if it is released', async () => {
    const { former, today } = await open();
    for (const id of ['released', 'run out']) {
      expect(await today.claim(of(id, 'hold:a'))).toMatchObject({ state: 'claimed', attempt: 1 });
      expect(await former.claim(of(id, 'b'))).toMatchObject({ state: 'busy' });
    }
    await today.release(of('released', 'hold:a'));
    const first = { state: 'claimed', attempt: 1, spacedAttempts: 1 };
    expect(await former.claim(of('released', 'b'))).toMatchObject({ ...first, abandoned: 0 });
    await today.renew({ ...of('run out', 'hold:a'), leaseMs: 1 });
    expect(await afterLease(former, of('run out', 'b'))).toMatchObject({ ...first, abandoned });
  });

  test('what today refuses, the former version claims, renews and completes as before', async () => {
    const { former, today } = await open();
    const refuse = (id: string) => today.release({ ...of(id, 'a'), refuseClaimsMs: 60_000 });
    await former.claim(of('running', 'b'));
    for (const id of ['absent', 'running']) expect(await refuse(id)).toEqual({ state: 'lost' });
    expect(await today.claim(of('absent', 'a'))).toMatchObject({ state: 'busy' });
    expect(await former.claim(of('absent', 'b'))).toMatchObject({ attempt: 1, spacedAttempts: 1 });
    for (const id of ['absent', 'running']) {
      expect(await former.renew(of(id, 'b'))).toEqual({ state: 'held' });
      expect(await former.release(of(id, 'b'))).toEqual({ state: 'released' });
    }
    expect(await today.claim(of('absent', 'a'))).toMatchObject({ state: late });
    expect(await today.claim(of('running', 'a'))).toMatchObject({ state: 'busy' });
    expect(await former.claim(of('running', 'c'))).toMatchObject({ attempt: 2, abandoned: 0 });
    await former.complete(of('running', 'c'));
    expect(await today.claim(of('running', 'a'))).toEqual({ state: 'completed' });
  });

  test('today sees what the former version has claimed, released and completed', async () => {
    const { former, today } = await open();
    const peek = async () => (await today.peek?.({ id: 'seen' }))?.state;
    const states = [await peek()];
    await former.claim(of('seen', 'a'));
    states.push(await peek());
    await former.renew({ ...of('seen', 'a'), leaseMs: 1 });
    const second = { attempt: 2, abandoned: 1 };
    expect(await afterLease(today, of('seen', 'hold:b'))).toMatchObject(second);
    await today.release(of('seen', 'hold:b'));
    states.push(await peek());
    expect(await former.claim(of('seen', 'c'))).toMatchObject(second);
    await former.complete(of('seen', 'c'));
    expect([...states, await peek()]).toEqual(['unknown', 'running', 'unknown', 'completed']);
  });
}
