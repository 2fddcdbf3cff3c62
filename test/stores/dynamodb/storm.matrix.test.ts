import { join } from 'node:path';
import type { Store } from 'posthorn';
import { createDynamoDeadLetters, createDynamoStore } from 'posthorn/dynamodb';
import { afterEach, expect, onTestFinished, test } from 'vitest';
import { packageRoot, startProgram } from '../../support/child-program.ts';
import { freePort } from '../../support/free-port.ts';
import { KEY } from '../../support/served.ts';
import { ProcessStorm, pause } from '../kit/process-storm.ts';
import { weatherStorm } from '../kit/storm.ts';
import { useSkewedClocks, withSkew } from './clock.ts';
import { useDynamo } from './fixture.ts';
import { faults, pass, silent, type Treatment } from './proxy.ts';

const FAULT_SHARE = 0.2;
const SILENT_SHARE = 0.01;

const dynamo = useDynamo();
const { table } = dynamo;
useSkewedClocks();
afterEach(() => {
  dynamo.proxy.treat = () => pass;
});

/** Some requests fail in the ways that pass, and a few get no answer, which takes two seconds. */
function chooseTreatment(): Treatment {
  const chance = Math.random();
  if (chance < SILENT_SHARE) return silent(Math.random() < 0.5);
  if (chance > FAULT_SHARE) return pass;
  const kinds = Object.values(faults);
  return kinds[Math.floor(Math.random() * kinds.length)] ?? pass;
}

/** A store on a machine whose clock is wrong by as much as `skewMs` says at the time. */
function byClock(store: Store, skewMs: () => number): Store {
  return {
    claim: (request) => withSkew(skewMs(), () => store.claim(request)),
    renew: (request) => withSkew(skewMs(), () => store.renew(request)),
    complete: (request) => withSkew(skewMs(), () => store.complete(request)),
    release: (request) => withSkew(skewMs(), () => store.release(request)),
  };
}

test('two receivers, with throttling, lost answers, an emulator that freezes, and clocks 5 s apart that are set back and forth: nothing is lost, and nothing completed is claimed again', async () => {
  let faultCount = 0;
  dynamo.proxy.treat = () => {
    const treatment = chooseTreatment();
    if (treatment !== pass) faultCount += 1;
    return treatment;
  };
  const scope = 'weather';
  const skews: Readonly<Record<number, readonly [number, number]>> = {
    250: [0, -5_000],
    180: [5_000, 0],
    100: [-2_500, 2_500],
    40: [0, 0],
  };
  let skew: readonly [number, number] = [0, 0];
  const freeze = async () => {
    dynamo.signal('SIGSTOP');
    await pause(2_500);
    dynamo.signal('SIGCONT');
  };
  const counts = await weatherStorm({
    receivers: ([0, 1] as const).map((index) => {
      const client = dynamo.openClient();
      const store = createDynamoStore(client, { table, scope });
      return {
        store: byClock(store, () => skew[index]),
        deadLetters: createDynamoDeadLetters(client, { table, scope }),
      };
    }),
    onProgress: (left) => {
      skew = skews[left] ?? skew;
      if (left === 220 || left === 120) void freeze();
    },
    calm: () => {
      dynamo.proxy.treat = () => pass;
    },
  });
  process.stdout.write(`storm on DynamoDB: ${JSON.stringify({ ...counts, faults: faultCount })}\n`);
  expect(faultCount).toBeGreaterThan(100);
});

test('three processes that are killed, frozen past their leases and set back: nothing is lost, and nothing completed is handled again', async () => {
  const port = await freePort();
  const program = startProgram(
    join(packageRoot, 'test', 'stores', 'dynamodb', 'storm-program.mjs'),
    {
      PATH: process.env.PATH,
      PORT: String(port),
      WORKERS: '3',
      TABLE: table,
      ENDPOINT: dynamo.proxy.url,
      KEY,
    },
    packageRoot,
  );
  onTestFinished(async () => {
    program.kill('SIGKILL');
    await program.exit;
  });
  await program.line(/^all listening/);
  const storm = new ProcessStorm(program, `http://127.0.0.1:${port}/`, 300);
  // Longer than a lease and the allowance for clocks together.
  const freeze = () => storm.freeze(13_000);
  const throttle = async () => {
    dynamo.proxy.treat = chooseTreatment;
    await storm.answers(60);
    dynamo.proxy.treat = () => pass;
  };
  await storm.run([freeze, throttle, freeze, throttle]);

  const { acknowledged, counts } = storm;
  process.stdout.write(`storm of processes on DynamoDB: ${JSON.stringify(counts)}\n`);
  expect(program.lines.filter((line) => line.startsWith('crashed '))).toEqual([]);
  expect(storm.handledAgain).toEqual([]);
  expect(acknowledged.size).toBe(counts.events);
  expect(counts.kills).toBeGreaterThan(3);
  const handled = new Set(
    program.lines.filter((line) => line.startsWith('handled ')).map((line) => line.split(' ')[1]),
  );
  expect([...acknowledged.keys()].filter((id) => !handled.has(id))).toEqual([]);
});
