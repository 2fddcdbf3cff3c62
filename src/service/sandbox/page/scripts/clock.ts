import { LAST_MOMENT } from '../../clock.ts';

/**
 * The clock, which runs on by itself between two messages, and the button that steps over a pause. A step
 * moves the clock or, in a sandbox that ages events, makes them older.
 */
export const clockScript: string = String.raw`
/** Beyond this a receiver that goes by its own clock refuses or parks new events as event_in_future. */
const FUTURE_LIMIT_MS = 300_000;

let reading = { now: 0, speed: 0, agesEvents: false, aheadMs: 0, readAt: performance.now() };
/** @type {number | null} */
let nextDueAt = null;
let isStepping = false;

/** The sandbox's time in milliseconds. */
function now() {
  const speed = reading.agesEvents ? 1 : reading.speed;
  return Math.min(reading.now + (performance.now() - reading.readAt) * speed, ${LAST_MOMENT});
}

/**
 * ISO 8601 as the service shows times, without fractions of a second.
 * @param {number} time
 */
function isoTime(time) {
  return new Date(time).toISOString().replace(/\.\d+Z$/, 'Z');
}

/**
 * The time until a moment, such as 4 min 12 s.
 * @param {number} time
 */
function timeUntil(time) {
  const seconds = Math.max(0, Math.ceil((time - now()) / 1000));
  const minutes = Math.floor(seconds / 60);
  return minutes === 0 ? seconds + ' s' : minutes + ' min ' + (seconds % 60) + ' s';
}

/**
 * A duration in its two largest units, such as 5 min 50 s.
 * @param {number} ms
 */
function durationText(ms) {
  const seconds = Math.round(ms / 1000);
  const parts = [
    { count: Math.floor(seconds / 86400), unit: 'd' },
    { count: Math.floor(seconds / 3600) % 24, unit: 'h' },
    { count: Math.floor(seconds / 60) % 60, unit: 'min' },
    { count: seconds % 60, unit: 's' },
  ];
  const first = parts.findIndex(({ count }) => count > 0);
  const largest = first === -1 ? parts.slice(-1) : parts.slice(first, first + 2);
  return largest
    .filter(({ count }, index) => index === 0 || count > 0)
    .map(({ count, unit }) => count + ' ' + unit)
    .join(' ');
}

/**
 * Says how an event has aged before an attempt, if the sandbox ages events.
 * @param {Attempt} attempt
 */
function agingNotes({ agedMs = 0, olderThan }) {
  return [
    ...(agedMs < 1000 ? [] : ['aged ' + durationText(agedMs)]),
    ...(olderThan === undefined
      ? []
      : ['older than ' + olderThan + ' now, although it happened after it: latest of an inbox skips it']),
  ];
}

/** @param {Activity} activity */
function readClock({ clock, nextDueAt: due }) {
  const { now: time, speed, agesEvents, realNow } = clock;
  reading = { now: time, speed, agesEvents, aheadMs: time - realNow, readAt: performance.now() };
  nextDueAt = due;
  setText(byId('pace'), paceText());
  showClock();
}

function paceText() {
  const { speed, agesEvents } = reading;
  if (speed === 1) return '';
  if (speed === 0) return 'stands still';
  return agesEvents ? 'events age ' + speed + ' times as fast' : speed + ' times as fast as real time';
}

function showClock() {
  const time = byId('now');
  setText(time, isoTime(now()));
  time.setAttribute('datetime', time.textContent ?? '');
  const isDue = nextDueAt !== null && nextDueAt <= now();
  const wait = nextDueAt === null || isDue ? '' : isoTime(nextDueAt) + ', in ' + timeUntil(nextDueAt);
  const none = isDue ? 'A delivery is on its way.' : 'No delivery is to come.';
  setText(byId('next'), wait === '' ? none : 'Next delivery: ' + wait);
  byId('step').setAttribute('aria-disabled', String(nextDueAt === null || isStepping));
  const minutes = Math.round(reading.aheadMs / 60_000);
  const ahead = byId('ahead');
  ahead.hidden = reading.aheadMs < FUTURE_LIMIT_MS;
  setText(
    ahead,
    ahead.hidden
      ? ''
      : 'This clock is ' + minutes + ' minutes ahead of the real one. A receiver that does not go by it ' +
          'refuses or parks new events: they are from its future.',
  );
}

async function step() {
  const result = byId('step-result');
  if (nextDueAt === null || isStepping) return;
  isStepping = true;
  setText(result, 'stepping');
  showClock();
  try {
    const { now: time, agedMs } = await post('sandbox/clock', { toNextRetry: true });
    const isAged = typeof agedMs === 'number';
    setText(result, isAged ? 'what has not ended is ' + durationText(agedMs) + ' older' : 'stepped to ' + time);
  } catch (error) {
    setText(result, messageOf(error));
  } finally {
    isStepping = false;
    showClock();
  }
}

byId('step').addEventListener('click', step);
`;
