import { checkReceiver } from '../src/receiver/checks/check-options.ts';
import type { PosthornError } from '../src/receiver/errors.ts';
import type { Health } from '../src/receiver/health/health.ts';
import type { Reply } from '../src/receiver/request/delivery.ts';
import type { Receiver } from '../src/receiver-interface.ts';
import { checkRequest, hangUp, type NodeRequest, type NodeResponse } from './node-http.ts';
import { sendReply } from './send-reply.ts';

/**
 * Answers GET and HEAD with the health of a receiver, in JSON: 503 while it is closing and if its store does
 * not answer, else 200. Waiting dead letters are a number to watch, not a failure, and deliveries go on
 * without the journal. The body holds codes, counts and times, but no message and no address. Still, it is
 * meant for an orchestrator, not for strangers. An answer takes 2 seconds at most.
 *
 * @throws ConfigurationError for a value that is not a receiver.
 *
 * @example
 * ```ts
 * import { toHealth } from 'posthorn/node';
 *
 * app.get('/health', toHealth(receiver));
 * ```
 */
export function toHealth(
  receiver: Pick<Receiver, 'health'>,
): (request: NodeRequest, response: NodeResponse) => void {
  checkReceiver(receiver, 'toHealth', ['health']);
  return (request, response) => {
    checkRequest(request);
    // A response whose methods middleware has replaced can throw: then no other answer is possible.
    answer(receiver, request, response).catch(() => hangUp(request));
  };
}

async function answer(
  receiver: Pick<Receiver, 'health'>,
  request: NodeRequest,
  response: NodeResponse,
): Promise<void> {
  const isQuestion = request.method === 'GET' || request.method === 'HEAD';
  sendReply(request, response, isQuestion ? toReply(await receiver.health()) : METHOD_NOT_ALLOWED);
}

function toReply({ closing, store, running, deadLetters, journal, lastDelivery }: Health): Reply {
  const status = closing || !store.ok ? 503 : 200;
  const body = JSON.stringify({
    ok: status === 200,
    closing,
    store: {
      ok: store.ok,
      latencyMs: Math.round(store.latencyMs * 1_000) / 1_000,
      failingSince: toTime(store.failingSince),
      code: codeOf(store.error),
    },
    running,
    deadLetters: deadLetters && {
      ok: deadLetters.ok,
      waiting: deadLetters.waiting,
      more: deadLetters.more,
      oldestParkedAt: toTime(deadLetters.oldestParkedAt),
      code: codeOf(deadLetters.error),
    },
    journal: journal && {
      ok: journal.ok,
      waiting: journal.waiting,
      leftOut: journal.leftOut,
      failingSince: toTime(journal.failingSince),
      code: codeOf(journal.error),
    },
    lastDelivery: lastDelivery && { ...lastDelivery, receivedAt: toTime(lastDelivery.receivedAt) },
  });
  return { status, headers: HEADERS, body, close: false, drainMs: DRAIN_MS };
}

/** A message may hold the address of a server. */
function codeOf(error: PosthornError | undefined): string | undefined {
  return error?.code;
}

function toTime(ms: number | undefined): string | undefined {
  // A dead letter in dead letters that are not ours may hold any number.
  return ms === undefined || Number.isNaN(new Date(ms).valueOf()) ? undefined : new Date(ms).toISOString();
}

const HEADERS = { 'content-type': 'application/json', 'cache-control': 'no-store' };

const DRAIN_MS = 1_000;

const METHOD_NOT_ALLOWED: Reply = {
  status: 405,
  headers: { 'content-type': 'application/problem+json', 'cache-control': 'no-store', allow: 'GET, HEAD' },
  body: JSON.stringify({
    title: 'Only GET and HEAD are accepted here',
    status: 405,
    code: 'method_not_allowed',
  }),
  close: false,
  drainMs: DRAIN_MS,
};
