import { LAST_MOMENT } from '../../clock.ts';

/** The clock, which runs on by itself between two messages, and the button that steps it. */
export const clockScript: string = String.raw`
/** Beyond this a receiver that goes by its own clock refuses new events as event_in_future. */
const FUTURE_LIMIT_MS = 300_000;

let reading = { now: 0, speed: 0, aheadMs: 0, readAt: performance.now() };
/** @type {number | null} */
let nextDueAt = null;
let isStepping = false;

/** The sandbox's time in milliseconds. */
function now() {
  return Math.min(reading.now + (performance.now() - reading.readAt) * reading.speed, ${LAST_MOMENT});
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

/** @param {Activity} activity */
function readClock({ clock, nextDueAt: due }) {
  const { now: time, speed, realNow } = clock;
  reading = { now: time, speed, aheadMs: time - realNow, readAt: performance.now() };
  nextDueAt = due;
  setText(byId('pace'), speed === 0 ? 'stands still' : speed === 1 ? '' : speed + ' times as fast as real time');
  showClock();
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
          'refuses new events: they are from its future.',
  );
}

async function step() {
  const result = byId('step-result');
  if (nextDueAt === null || isStepping) return;
  isStepping = true;
  setText(result, 'stepping');
  showClock();
  try {
    const { now: time } = await post('sandbox/clock', { toNextRetry: true });
    setText(result, 'stepped to ' + time);
  } catch (error) {
    setText(result, messageOf(error));
  } finally {
    isStepping = false;
    showClock();
  }
}

byId('step').addEventListener('click', step);
`;
