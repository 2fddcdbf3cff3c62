import { bench, group, do_not_optimize as keep } from 'mitata';
import { catalog } from '../../dist/src/index.js';
import { TypeList } from '../../dist/src/receiver/events/type-list.js';
import { Router } from '../../dist/src/receiver/handling/handlers/router.js';
import { PendingWarnings } from '../../dist/src/receiver/outcomes/pending-warnings.js';

export const title = 'router';

const types = Object.entries(catalog).flatMap(([entity, names]) => names.map((name) => `${entity}.${name}`));

export function register() {
  group('router', () => {
    for (const count of [1, 10, 100, 1_000]) {
      const router = createRouter(count);
      bench(`match among ${count}`, () => keep(router.match('transfer.succeeded')));
    }
  });
}

/**
 * One handler matches, however many there are.
 *
 * @param {number} count
 */
function createRouter(count) {
  const router = new Router(new TypeList(types), false, new PendingWarnings());
  const others = types.filter((type) => type !== 'transfer.succeeded');
  for (let index = 1; index < count; index += 1) {
    router.add([others[index % others.length] ?? '*'], () => {}, {});
  }
  router.add(['transfer.succeeded'], () => {}, {});
  router.freeze();
  return router;
}
