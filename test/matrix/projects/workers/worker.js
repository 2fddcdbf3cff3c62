import { createReceiver, PermanentError } from 'posthorn';
import { toFetch } from 'posthorn/fetch';
import { toOperator } from 'posthorn/operator';

const reports = [];
let isStuck = true;
let isKeyStuck = true;

const receiver = createReceiver({
  signingKey: () => {
    const stuck = isKeyStuck;
    isKeyStuck = false;
    return stuck ? new Promise(() => {}) : 'matrix-key';
  },
  deadlineMs: 2_000,
  maxRunMs: 8_000,
  leaseMs: 500,
  maxBodyBytes: 1_000,
})
  .on('transfer.*', () => pause(50))
  .on('dispute.*', () => pause(4_000))
  .on('merchant.*', () => {
    const stuck = isStuck;
    isStuck = false;
    return stuck ? new Promise(() => setTimeout(() => {}, 60_000)) : undefined;
  })
  .observe(({ event, outcome, late, warnings }) => reports.push({ id: event?.id, outcome, late, warnings }));

function pause(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

const letters = new Map();
let isMended = false;
/** A receiver that parks what it cannot handle yet, for its operators. */
const parking = createReceiver({
  signingKey: 'matrix-key',
  deadLetters: {
    put: async (letter) => void letters.set(letter.id, letter),
    get: async (id) => letters.get(id),
    remove: async (id) => letters.delete(id),
    async *list() {
      yield* [...letters.values()];
    },
  },
}).on('*', () => {
  if (!isMended) throw new PermanentError('not yet');
});
const park = toFetch(parking);
const operator = toOperator(parking, {
  path: '/operator',
  authorize: async ({ headers }) => {
    const token = headers.get('authorization');
    if (token === 'Bearer broken') throw new Error('no session');
    return token === 'Bearer anna' && { name: 'anna' };
  },
});

const receive = toFetch(receiver);
/** What a delivery has begun ends with its answer. */
const receiveForgetfully = toFetch(receiver, { waitUntil: () => {} });

export default {
  fetch(request, env, ctx) {
    const { pathname } = new URL(request.url);
    if (pathname === '/parking') return park(request, env, ctx);
    if (pathname.startsWith('/operator/')) {
      isMended = true;
      return operator(request);
    }
    if (pathname === '/reports') return Response.json(reports);
    return (pathname === '/forgetful' ? receiveForgetfully : receive)(request, env, ctx);
  },
};
