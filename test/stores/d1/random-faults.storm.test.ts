import { createD1DeadLetters, createD1Store } from 'posthorn/d1';
import { expect, test } from 'vitest';
import { weatherStorm } from '../kit/storm.ts';
import { type Fault, faults, type LocalD1, silent } from './binding.ts';
import { useD1 } from './fixture.ts';

const FAULT_SHARE = 0.25;

const d1 = useD1();

const kinds: readonly Fault[] = [...Object.values(faults), silent(true), silent(false)];

function chooseFault(): Fault | undefined {
  if (Math.random() > FAULT_SHARE) return undefined;
  // An answer that never comes takes two seconds, so most faults are of the other kinds.
  const last = Math.random() < 0.1 ? kinds.length : kinds.length - 2;
  return kinds[Math.floor(Math.random() * last)];
}

test('two receivers on one database, with lost answers, throttling, resets, and a clock that is set back: nothing is lost, and nothing completed is claimed again', async () => {
  let skewMs = 0;
  d1.connection.setClock(() => Date.now() + skewMs);
  // Not forward: beyond `leaseMs` another receiver may take a key whose handler runs (docs/redis.md).
  const skews: Readonly<Record<number, number>> = { 200: -5_000, 100: -10_000, 50: -15_000 };
  let isCalm = false;
  let faultCount = 0;
  const openStore = (binding: LocalD1) => {
    binding.nextFault = () => {
      const fault = isCalm ? undefined : chooseFault();
      if (fault !== undefined) faultCount += 1;
      return fault;
    };
    return {
      store: createD1Store(binding, { scope: 'storm' }),
      deadLetters: createD1DeadLetters(binding, { scope: 'storm' }),
    };
  };
  const counts = await weatherStorm({
    receivers: [d1.binding, d1.another()].map(openStore),
    onProgress: (left) => {
      skewMs = skews[left] ?? skewMs;
    },
    calm: () => {
      isCalm = true;
    },
  });
  process.stdout.write(`storm on D1: ${JSON.stringify({ ...counts, faults: faultCount })}\n`);
  expect(faultCount).toBeGreaterThan(100);
});
