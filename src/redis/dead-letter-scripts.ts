import { createScript, type Script } from './commands.ts';

/**
 * What the scripts share. A letter's position is the server's time of its parking in microseconds, or one more than the
 * last where the clock has not moved on. That of a letter that was taken out is kept for a day, for those who are listing.
 */
const keys = `
local positions, letters, removed = KEYS[1], KEYS[2], KEYS[3]
local member = ARGV[3]
`;

/** member, letter */
export const PUT: Script = createScript(`${keys}
redis.call('HSET', letters, member, ARGV[4])
if redis.call('ZSCORE', positions, member) then return reply() end
local position = time[1] * 1000000 + time[2]
local last = redis.call('ZREVRANGE', positions, 0, 0, 'WITHSCORES')
if last[2] and tonumber(last[2]) >= position then position = tonumber(last[2]) + 1 end
redis.call('ZADD', positions, string.format('%.0f', position), member)
return reply()
`);

/** member */
export const GET: Script = createScript(`${keys}
return reply(redis.call('HGET', letters, member) or nil)
`);

/** member, how long its position is kept */
export const REMOVE: Script = createScript(`${keys}
local position = redis.call('ZSCORE', positions, member)
if not position then return reply(0) end
-- First what frees memory: Redis refuses a script that begins with anything else when it has none left.
redis.call('ZREM', positions, member)
redis.call('HDEL', letters, member)
redis.call('SET', removed, position, 'PX', ARGV[4])
return reply(1)
`);

/**
 * member: the last one seen, or '' to begin; its position, or '' where only the member is known, because a letter that is
 * parked anew stands at the end. Tells the next member, its letter and its position.
 */
export const NEXT: Script = createScript(`${keys}
local position = ARGV[4]
if position == '' and member ~= '' then
  position = redis.call('ZSCORE', positions, member) or redis.call('GET', removed) or ''
end
local after = position == '' and '-inf' or '(' .. position
local next = redis.call('ZRANGEBYSCORE', positions, after, '+inf', 'WITHSCORES', 'LIMIT', 0, 1)
if not next[1] then return reply() end
return reply(next[1], redis.call('HGET', letters, next[1]) or '', next[2])
`);
