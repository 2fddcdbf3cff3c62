import { expect } from 'vitest';
import type { Deploy } from './deploy.ts';
import { today, type Version } from './version.ts';

/** Deliveries between two steps of a deploy. */
export const SOME = 50;

/** Replaces receivers of the former version by those of today, some by a kill, and goes back in between. */
export async function rollReceivers(deploy: Deploy, former: Version): Promise<void> {
  const [first, second] = [await deploy.add(former), await deploy.add(former)];
  await deploy.storm(async () => {
    await deploy.deliveries(SOME);
    const third = await deploy.add(today);
    await deploy.deliveries(SOME);
    await deploy.end(first, 'SIGKILL');
    const fourth = await deploy.add(former);
    await deploy.deliveries(SOME);
    await deploy.end(third, 'SIGKILL');
    await deploy.add(today);
    await deploy.deliveries(SOME);
    await deploy.end(second, 'SIGTERM');
    await deploy.add(today);
    await deploy.deliveries(SOME);
    await deploy.end(fourth, 'SIGKILL');
    await deploy.deliveries(SOME);
  });
  // If one version failed on what the other stores, the other would handle all events in the end.
  for (const version of [former, today]) expect(deploy.handledBy(version)).toBeGreaterThan(SOME / 5);
}
