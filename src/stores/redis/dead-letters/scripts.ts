import { BODY_MARK, LONGEST_HEAD } from '../../kit/serialized-letter.ts';
import { createScript, type Script } from '../script.ts';

/**
 * Begins each text in a reply. The client of Upstash parses texts that look like JSON, and a dead letter
 * does; so may the id of an event.
 */
const TEXT_MARK = '=';

/** Returns a text of a reply as it is stored. */
export function fromText(reply: string): string {
  return reply.slice(TEXT_MARK.length);
}

/**
 * The beginning of each script. The position of a dead letter is the time when it was parked, in
 * microseconds. The last three digits tell dead letters of one millisecond apart; if a millisecond is full,
 * its dead letters continue in the next. The position of a removed dead letter is kept for a day, for lists
 * that continue after it.
 */
const keys = `
local positions, letters, removed = KEYS[1], KEYS[2], KEYS[3]
local member = ARGV[3]
local function text(value) return value and '${TEXT_MARK}' .. value or nil end
`;

/** Stores a dead letter. Arguments: member, letter, the time when it was parked, in milliseconds. */
export const PUT: Script = createScript(`${keys}
redis.call('HSET', letters, member, ARGV[4])
local first = tonumber(ARGV[5]) * 1000
local current = tonumber(redis.call('ZSCORE', positions, member) or -1)
local position
repeat
  if current >= first and current < first + 1000 then return reply() end
  local last = redis.call('ZREVRANGEBYSCORE', positions, first + 999, first, 'WITHSCORES', 'LIMIT', 0, 1)
  position = last[2] and tonumber(last[2]) + 1 or first
  first = first + 1000
until position < first
redis.call('ZADD', positions, string.format('%.0f', position), member)
return reply()
`);

/** Returns a dead letter. Arguments: member. */
export const GET: Script = createScript(`${keys}
return reply(text(redis.call('HGET', letters, member)))
`);

/**
 * Removes a dead letter and returns 1, or 0 if there was none. Arguments: member, how long its position is
 * kept.
 */
export const REMOVE: Script = createScript(`${keys}
local position = redis.call('ZSCORE', positions, member)
if not position then return reply(0) end
-- Commands that free memory come first: Redis out of memory refuses a script that begins with any other.
redis.call('ZREM', positions, member)
redis.call('HDEL', letters, member)
redis.call('SET', removed, position, 'PX', ARGV[4])
return reply(1)
`);

const after = `
local position = ARGV[4]
if position == '' and member ~= '' then
  position = redis.call('ZSCORE', positions, member) or redis.call('GET', removed) or ''
end
local after = position == '' and '-inf' or '(' .. position
`;

/**
 * Returns the next member, its dead letter and its position. Arguments: the last member seen, or '' to begin;
 * its position, or '' if only the member is known. The position is needed, because a dead letter that was
 * removed and parked again has moved to the end.
 */
export const NEXT: Script = createScript(`${keys}${after}
local next = redis.call('ZRANGEBYSCORE', positions, after, '+inf', 'WITHSCORES', 'LIMIT', 0, 1)
if not next[1] then return reply() end
return reply(text(next[1]), text(redis.call('HGET', letters, next[1]) or ''), next[2])
`);

/** Redis reads a dead letter as a whole, so it reads no more than these bytes at once, and one more. */
const MOST_READ = 1_048_576;

/**
 * Returns some of the next members, the head of each one and its position; '' in place of the head if there
 * is no dead letter. Arguments: those of {@link NEXT}; the most members.
 */
export const HEADS: Script = createScript(`${keys}${after}
local range = redis.call('ZRANGEBYSCORE', positions, after, '+inf', 'WITHSCORES', 'LIMIT', 0, ARGV[5])
local results, bytes = {}, 0
for index = 1, #range, 2 do
  local letter = redis.call('HGET', letters, range[index])
  local start = string.sub(letter or '', 1, ${LONGEST_HEAD})
  local mark = string.find(start, '${BODY_MARK}', 1, true) or 1
  results[#results + 1] = text(range[index])
  results[#results + 1] = letter and text(string.sub(start, 1, mark - 1)) or ''
  results[#results + 1] = range[index + 1]
  bytes = bytes + #(letter or '')
  if bytes > ${MOST_READ} then break end
end
return reply(unpack(results))
`);
