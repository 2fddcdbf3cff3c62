import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { createD1Store } from 'posthorn/d1';
import { ampleTime } from '../../support/limits.ts';
import { StoreModel, storeCommands } from '../kit/model.ts';
import type { D1Fixture } from './fixture.ts';

/** Compares the store with the reference model in random walks, in which time passes too. */
export async function compareWithModel(d1: D1Fixture, walks: number): Promise<void> {
  let time = Date.now();
  d1.connection.setClock(() => time);
  const advance = (ms: number) => {
    time += ms;
  };
  const create = () => ({
    model: new StoreModel(),
    real: { store: createD1Store(d1.binding, { scope: randomUUID(), ...ampleTime }), advance },
  });
  await fc.assert(
    fc.asyncProperty(storeCommands(), (commands) => fc.asyncModelRun(create, commands)),
    { numRuns: walks },
  );
}
