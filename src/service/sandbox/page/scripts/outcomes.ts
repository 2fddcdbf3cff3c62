import type { Outcome } from '../../../../receiver/outcomes/outcome.ts';

/** In the order of the page's filter. */
const outcomeBadges: Readonly<Record<Outcome, string>> = {
  processed: 'good',
  duplicate: 'good',
  queued: 'queued',
  handshake: 'good',
  parked: 'parked',
  ignored: 'ignored',
  rejected: 'refused',
  busy: 'waiting',
  failed: 'bad',
};

/** The outcomes of answers, and the state of an event that follows from them. */
export const outcomesScript: string = `
/**
 * The outcomes of posthorn, each with the class of its badge.
 * @type {ReadonlyMap<string, string>}
 */
const outcomeBadges = new Map(${JSON.stringify(Object.entries(outcomeBadges))});

/** The codes of the outcome busy: another delivery or another event is being handled. */
const busyCodes = new Set(['event_running', 'key_busy']);

/** The names by which answers are filtered that do not have an outcome. */
const OTHER_ANSWER = 'another answer';
const NO_ANSWER = 'no answer';

/** @param {Attempt} attempt */
function isSuccess({ status }) {
  return status !== undefined && status >= 200 && status <= 299;
}

/**
 * The outcome of an attempt, and the text and class of its badge. The answer of another server than posthorn
 * does not have an outcome, so its status is the badge.
 * @param {Attempt} attempt
 */
function resultOf(attempt) {
  const { status, response } = attempt;
  if (status === undefined || response === undefined) {
    return { outcome: NO_ANSWER, text: NO_ANSWER, badge: 'bad' };
  }
  const named = isSuccess(attempt) ? acceptedAs(response) : refusedAs(response, status);
  if (named === undefined) {
    return { outcome: OTHER_ANSWER, text: String(status), badge: isSuccess(attempt) ? 'good' : 'bad' };
  }
  return { ...named, badge: outcomeBadges.get(named.outcome) ?? 'bad' };
}

/** @param {Message} response */
function acceptedAs({ body }) {
  const outcome = memberOf(body, 'outcome');
  return outcomeBadges.has(outcome) ? { outcome, text: outcome } : undefined;
}

/**
 * A refusal is a problem of RFC 9457 with a code.
 * @param {Message} response
 * @param {number} status
 */
function refusedAs({ headers, body }, status) {
  const isProblem = headers['content-type']?.startsWith('application/problem+json');
  const code = memberOf(body, 'code');
  if (!isProblem || code === '') return undefined;
  if (busyCodes.has(code)) return { outcome: 'busy', text: code };
  return { outcome: status < 500 ? 'rejected' : 'failed', text: code };
}

/**
 * A text in a body of JSON, empty if there is none.
 * @param {string} body
 * @param {string} name
 * @returns {string}
 */
function memberOf(body, name) {
  try {
    const value = JSON.parse(body)?.[name];
    return typeof value === 'string' ? value : '';
  } catch {
    return '';
  }
}

/** @param {Attempt | Pending} delivery */
function nameOf({ number, duplicate }) {
  return duplicate ? 'duplicate' : 'attempt ' + number;
}

/**
 * @param {Attempt} attempt
 * @returns {string}
 */
function lineOf(attempt) {
  const { status, error } = attempt;
  const { text } = resultOf(attempt);
  const parts = [...(status === undefined ? [] : [String(status)]), text, ...(error === undefined ? [] : [error])];
  return nameOf(attempt) + ': ' + [...new Set(parts)].join(' ');
}

/** The states of an event that was answered 2xx but not handled, by the class of their badge. */
const unhandled = [
  { badge: 'parked', text: 'parked as a dead letter' },
  { badge: 'ignored', text: 'ignored: no handler of its type' },
  { badge: 'queued', text: 'queued for a worker' },
];

/**
 * The state of an event and the class of its badge.
 * @param {Attempt[]} attempts
 * @param {Pending[]} pending
 */
function stateOf(attempts, pending) {
  const unchanged = attempts.filter(({ changed }) => !changed);
  // By webhook: a copy may have been accepted after the last retry had failed.
  const accepted = new Map(unchanged.filter(isSuccess).map((attempt) => [attempt.webhook, attempt]));
  const open = pending.filter(({ webhook }) => !accepted.has(webhook));
  if (open.length > 0) {
    const isRetry = open.some(({ number }) => number > 1);
    return { badge: 'waiting', text: isRetry ? 'failed, a retry is to come' : 'to be delivered' };
  }
  if (attempts.length === 0) return { badge: 'waiting', text: 'no enabled webhook wants it' };
  if (attempts.some((attempt) => attempt.changed && isSuccess(attempt))) {
    return { badge: 'bad', text: 'accepted, although it was changed' };
  }
  if (unchanged.length === 0) return { badge: 'good', text: 'refused, as it should be' };
  if (unchanged.some(({ webhook }) => !accepted.has(webhook))) {
    return { badge: 'bad', text: 'given up: no retry is to come' };
  }
  const badges = new Set([...accepted.values()].map((attempt) => resultOf(attempt).badge));
  return unhandled.find(({ badge }) => badges.has(badge)) ?? { badge: 'good', text: 'delivered' };
}
`;
