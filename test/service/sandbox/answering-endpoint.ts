import type { RequestListener } from 'node:http';
import { buffer } from 'node:stream/consumers';

/** Answers as a posthorn receiver gives them, one for each group of outcomes. */
export const answers = {
  processed: { status: 200, body: '{"outcome":"processed","id":"evt"}' },
  parked: { status: 200, body: '{"outcome":"parked","id":"evt"}' },
  ignored: { status: 200, body: '{"outcome":"ignored","id":"evt"}' },
  queued: { status: 202, body: '{"outcome":"queued","id":"evt"}' },
  busy: { status: 503, body: '{"title":"…","status":503,"code":"event_running"}' },
  keyBusy: { status: 503, body: '{"title":"…","status":503,"code":"key_busy"}' },
  rejected: { status: 403, body: '{"title":"…","status":403,"code":"signature_mismatch"}' },
  failed: { status: 500, body: '{"title":"…","status":500,"code":"handler_failed"}' },
} as const;

export type AnswerName = keyof typeof answers;

/** Gives the answers of the names in turn, and the last of them from then on; by default each answer. */
export function answerInTurn(...names: readonly AnswerName[]): RequestListener {
  const list = names.length > 0 ? names.map((name) => answers[name]) : Object.values(answers);
  let count = 0;
  return async (request, response) => {
    await buffer(request);
    const { status, body } = list[Math.min(count, list.length - 1)] ?? answers.processed;
    count += 1;
    const type = status < 400 ? 'application/json' : 'application/problem+json';
    response.writeHead(status, { 'content-type': type }).end(body);
  };
}
