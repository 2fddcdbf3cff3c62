import { bench, group, do_not_optimize as keep } from 'mitata';
import { hmacSignature } from '../../dist/src/index.js';
import { bankingService } from '../../dist/src/providers/index.js';
import { createCredentialsCheck } from '../../dist/src/receiver/authentication/credentials.js';
import { ageOf, checkAge } from '../../dist/src/receiver/events/age.js';
import { accept, toReply } from '../../dist/src/receiver/outcomes/outcome.js';
import { readHeaders } from '../../dist/src/receiver/request/headers.js';
import { withTimeLimit } from '../../dist/src/receiver/timing/time-limit.js';
import { bearerToken, signingKey } from '../contenders/credentials.js';
import { createBenchReceiver } from '../contenders/posthorn-receiver.js';
import { SignedEvents } from '../load/signed-events.js';

const { readEvent } = bankingService();
/**
 * The banking service has its type and id in the body.
 *
 * @type {Map<string, string>}
 */
const noHeaders = new Map();

export const title = 'delivery';

const BODY_BYTES = 700;
const SIGNED_AT_ONCE = 50_000;

let events = createEvents();
const request = events.createRequest();
const bodyOffset = request.length - BODY_BYTES;

function createEvents() {
  return new SignedEvents({ scheme: 'service', bodyBytes: BODY_BYTES, count: SIGNED_AT_ONCE });
}

/** The next event as Node.js hands it over: names and values of the header by turns, and the body. */
function nextRequest() {
  if (events.left === 0) events = createEvents();
  events.writeNext(request);
  const lines = request.toString('latin1', 0, bodyOffset).trim().split('\r\n').slice(1);
  return {
    rawHeaders: lines.flatMap((line) => line.split(': ')),
    body: Buffer.from(request.subarray(bodyOffset)),
  };
}

/** A delivery of an event that has not come before. */
export function nextDelivery() {
  const { rawHeaders, body } = nextRequest();
  return { method: 'POST', headers: rawHeaders, readBody: () => body };
}

/** What a delivery costs without HTTP, and its steps by themselves. */
export function register() {
  const receiver = createBenchReceiver();
  for (const count of [1, 50]) {
    group(`delivery: the whole, ${count} at once`, () => {
      bench(`receive ${count}`, function* () {
        yield {
          0: () => Array.from({ length: count }, nextDelivery),
          bench: (/** @type {ReturnType<typeof nextDelivery>[]} */ deliveries) =>
            Promise.all(deliveries.map((delivery) => receiver.receive(delivery))),
        };
      });
    });
  }
  registerSteps();
  registerTimeLimits();
}

function registerSteps() {
  const { rawHeaders, body } = nextRequest();
  const headers = readHeaders(rawHeaders);
  const credentials = createCredentialsCheck({ type: 'BEARER', bearer: { token: bearerToken } });
  const scheme = hmacSignature({
    encoding: 'hex',
    read: (sent) => ({ signatures: [sent.get('x-service-signature') ?? ''] }),
  });
  const signature = scheme.createCheck(signingKey, { canSetHeader: true });
  const event = readEvent({ rawBody: body, headers: noHeaders });
  const settings = { challenge: '', retryAfterSeconds: 60, drainMs: 10_000 };
  group('delivery: its steps', () => {
    bench('header fields', () => keep(readHeaders(rawHeaders)));
    bench('credentials', () => credentials.check(headers));
    bench('signature', async () => {
      const keys = await signature.keys(Number.POSITIVE_INFINITY, undefined);
      return keep(await keys.verify(body, signature.readHead(headers)));
    });
    bench('UTF-8, JSON, envelope', () => keep(readEvent({ rawBody: body, headers: noHeaders })));
    bench('age', () => checkAge(event, undefined, ageOf(event.createdAtMs, Date.now()), 86_400_000));
    bench('reply', () => keep(toReply(accept('processed', event.id), false, settings)));
  });
}

/** A promise with a time limit, as half a dozen steps of a delivery have it, and the same with `setTimeout`. */
function registerTimeLimits() {
  const late = () => new Error('late');
  group('delivery: a time limit', () => {
    bench('withTimeLimit', async () => keep(await withTimeLimit(Promise.resolve(1), 25_000, late)));
    bench('setTimeout', async () => keep(await withTimer(Promise.resolve(1), 25_000, late)));
  });
}

/**
 * @param {Promise<unknown>} promise
 * @param {number} ms
 * @param {() => Error} late
 */
function withTimer(promise, ms, late) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(late()), ms);
    promise.then((value) => {
      clearTimeout(timer);
      resolve(value);
    }, reject);
  });
}
