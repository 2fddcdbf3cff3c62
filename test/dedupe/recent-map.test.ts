import fc from 'fast-check';
import { expect, test } from 'vitest';
import { RecentMap } from '../../src/dedupe/recent-map.ts';

const MOST = 5;

interface Entry {
  readonly value: number;
  readonly until: number;
  readonly isHeld: boolean;
}

/** The same by the book: entries in the order of their use. */
class Model {
  #entries = new Map<string, Entry>();

  get(id: string, now: number): number | undefined {
    const entry = this.#entries.get(id);
    if (entry === undefined) return undefined;
    this.#entries.delete(id);
    if (entry.until <= now) return undefined;
    this.#entries.set(id, entry);
    return entry.value;
  }

  hold(id: string, value: number, until: number): void {
    this.#entries.set(id, { value, until, isHeld: true });
  }

  remember(id: string, value: number, until: number, now: number): void {
    this.#entries.delete(id);
    for (let dropped = 0; dropped < 2; dropped += 1) {
      const remembered = [...this.#entries].filter(([, { isHeld }]) => !isHeld);
      const [oldest] = remembered;
      if (oldest === undefined || (remembered.length < MOST && oldest[1].until > now)) break;
      this.#entries.delete(oldest[0]);
    }
    this.#entries.set(id, { value, until, isHeld: false });
  }
}

test('keeps and forgets as the model does', () => {
  const step = fc.record({
    operation: fc.constantFrom('get' as const, 'hold' as const, 'remember' as const),
    id: fc.nat({ max: 12 }).map((number) => `evt_${number}`),
    elapsed: fc.nat({ max: 3 }),
    forMs: fc.integer({ min: 1, max: 60 }),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200, size: 'max' }), (steps) => {
      const model = new Model();
      const map = new RecentMap<number>(MOST);
      let now = 0;
      for (const [value, { operation, id, elapsed, forMs }] of steps.entries()) {
        now += elapsed;
        if (operation === 'get') expect(map.get(id, now)).toBe(model.get(id, now));
        for (const one of [model, map]) {
          if (operation === 'hold') one.hold(id, value, now + forMs);
          if (operation === 'remember') one.remember(id, value, now + forMs, now);
        }
      }
      for (let number = 0; number <= 12; number += 1) {
        expect(map.get(`evt_${number}`, now)).toBe(model.get(`evt_${number}`, now));
      }
    }),
    { numRuns: 500 },
  );
});
