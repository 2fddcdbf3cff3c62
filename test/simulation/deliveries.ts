import type { ActionSource } from './action.ts';
import { clock } from './clock.ts';
import { BODY, HEADERS } from './event.ts';
import type { SimulatedProcess } from './process.ts';
import { isLastByAge } from './time.ts';
import type { World } from './world.ts';

/** A request of the service. */
export interface SentDelivery {
  readonly name: string;
  readonly process: SimulatedProcess;
  /** By the monotonic clock. */
  readonly sentAt: number;
  /** True if the service sends no further one, by the age of the event. */
  readonly isLast: boolean;
  /** `lost`: its process died. */
  state: 'waiting' | 'accepted' | 'refused' | 'lost';
}

const NAMES = ['the delivery', 'the second delivery', 'the third delivery', 'the fourth delivery'];

/** The service sends the event. By symmetry the first delivery goes to the first process. */
export const deliveries: ActionSource = (world) => {
  const { deliveries: sent, processes, scope } = world;
  if (sent.length === scope.deliveries || scope.isParked) return [];
  const name = NAMES[sent.length] ?? `delivery ${sent.length + 1}`;
  const targets = sent.length === 0 ? processes.slice(0, 1) : processes;
  return targets
    .filter(({ state }) => state === 'running')
    .map((process) => ({
      kind: 'step',
      name: `${name} arrives at ${process.name}`,
      act: () => deliver(world, name, process),
    }));
};

function deliver(world: World, name: string, process: SimulatedProcess): void {
  const { now } = clock;
  const delivery: SentDelivery = { name, process, sentAt: now, isLast: isLastByAge(), state: 'waiting' };
  world.deliveries.push(delivery);
  process.run(() => {
    void process.receiver
      .receive({ method: 'POST', headers: HEADERS, readBody: () => BODY })
      .then(({ status, body }) => {
        delivery.state = status < 300 ? 'accepted' : 'refused';
        world.promises.reruns.noteDelivery(body);
        if (delivery.state === 'accepted') world.promises.noteAccepted();
        else {
          world.promises.noteFailed(process);
          if (body.includes('event_running')) world.promises.noteBusy(now);
        }
      });
  });
}
