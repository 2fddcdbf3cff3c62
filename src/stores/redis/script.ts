import { createHash } from 'node:crypto';

/**
 * A Lua script. It replies with the server's time in milliseconds, the number
 * of the call, its status, and its results.
 */
export interface Script {
  readonly text: string;
  readonly sha1: string;
}

/**
 * Creates a script from a Lua `body`, which reads the server's time from `now`, its own arguments from
 * `ARGV[3]` on, and returns `reply(…)`. The first two arguments are the time limit, by the server's clock,
 * and the number of the call.
 *
 * The script does nothing once the time limit has passed, because its caller has given up by then. A body
 * with `mayBeLate` runs all the same: it reads `isLate`, and returns `refuse()` if it left something undone.
 */
export function createScript(
  body: string,
  { mayBeLate }: { mayBeLate: boolean } = { mayBeLate: false },
): Script {
  const text = [
    "local time = redis.call('TIME')",
    'local now = time[1] * 1000 + math.floor(time[2] / 1000)',
    'local isLate = now > tonumber(ARGV[1])',
    "local function refuse() return { now, ARGV[2], 'late' } end",
    "local function reply(...) return { now, ARGV[2], 'done', ... } end",
    mayBeLate ? '' : 'if isLate then return refuse() end',
    body.trim(),
  ].join('\n');
  return { text, sha1: createHash('sha1').update(text).digest('hex') };
}
