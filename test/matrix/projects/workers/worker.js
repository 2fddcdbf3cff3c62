import { createReceiver } from 'posthorn';
import { toFetch } from 'posthorn/fetch';

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

const receive = toFetch(receiver);
/** What a delivery has begun ends with its answer. */
const receiveForgetfully = toFetch(receiver, { waitUntil: () => {} });

export default {
  fetch(request, env, ctx) {
    const { pathname } = new URL(request.url);
    if (pathname === '/reports') return Response.json(reports);
    return (pathname === '/forgetful' ? receiveForgetfully : receive)(request, env, ctx);
  },
};
