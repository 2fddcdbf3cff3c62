import { HOLD } from '../../../receiver/dedupe/claim-token.ts';
import { MOST_REFUSED } from '../../kit/claim-rule.ts';
import { createScript, type Script } from '../script.ts';

/** The value of a completed id. Redis shares one object for each small integer, so it costs no memory. */
const COMPLETED = '1';

/**
 * Each operation has five arguments: its name, the token, the lease or the time of refusal and the expiry in
 * milliseconds, and a detail.
 */
const ARGUMENT_COUNT = 5;

/**
 * Runs one operation on each of its keys, and returns the result of each as text. Late completions and
 * releases are carried out too: a completed event was handled, however late, and an id that is not released
 * counts as abandoned.
 *
 * An open claim is one packed list in one string, which takes the least memory in Redis. The end of its lease
 * is 0 once the claim is released. The list is longer if a release of a token refuses later claims of it:
 * then it has these tokens, and a time for each. Times are in milliseconds since the epoch.
 */
export const OPERATIONS: Script = createScript(
  `
local isRefused = false
local TOKEN, LEASE_ENDS_AT, ATTEMPT, SPACED_ATTEMPTS, COUNTED_AT, FIRST_CLAIMED_AT, ABANDONED, HANDLED, REFUSED =
  1, 2, 3, 4, 5, 6, 7, 8, 9

local function isHold(token)
  return string.sub(token, 1, ${HOLD.length}) == '${HOLD}'
end

local function read(key)
  local value = redis.call('GET', key)
  if value == '${COMPLETED}' then return nil, true end
  return value and cmsgpack.unpack(value), false
end

local function write(key, record, expiryMs)
  redis.call('SET', key, cmsgpack.pack(record), 'PX', expiryMs)
end

-- An id that no claim has had yet. It was counted so long ago that the next run counts, in earlier versions too.
local function begin()
  return { '', 0, 0, 0, 0, now, 0, '' }
end

-- Counts a claim as a run.
local function count(record, spacingMs)
  local elapsed = now - record[COUNTED_AT]
  -- A clock that was set back says nothing of the time between two claims: one too few counted would lose the event.
  if elapsed < 0 or elapsed >= tonumber(spacingMs) then
    record[SPACED_ATTEMPTS] = record[SPACED_ATTEMPTS] + 1
    record[COUNTED_AT] = now
  end
  record[ATTEMPT] = record[ATTEMPT] + 1
end

local function take(record, token, spacingMs)
  if record[LEASE_ENDS_AT] > 0 and not isHold(record[TOKEN]) then record[ABANDONED] = record[ABANDONED] + 1 end
  if record[ATTEMPT] == 0 then record[FIRST_CLAIMED_AT] = now end
  if not isHold(token) then count(record, spacingMs) end
  record[TOKEN] = token
end

local function msRefused(record, token)
  if not record[REFUSED] then return 0 end
  for _, one in ipairs(record[REFUSED]) do
    if one[1] == token then return math.max(0, one[2] - now) end
  end
  return 0
end

-- Refuses claims of the token, and forgets the refusals that are over, and the oldest of very many.
local function refuseClaims(record, token, ms)
  local refused = { { token, now + ms } }
  for _, one in ipairs(record[REFUSED] or {}) do
    if one[1] ~= token and one[2] > now and #refused < ${MOST_REFUSED} then table.insert(refused, one) end
  end
  record[REFUSED] = refused
end

local operations = {}

function operations.claim(key, token, leaseMs, expiryMs, spacingMs)
  if isLate then isRefused = true return '' end
  local record, isCompleted = read(key)
  if isCompleted then return 'completed' end
  record = record or begin()
  if record[TOKEN] ~= token and record[LEASE_ENDS_AT] > now then
    return 'busy ' .. (record[LEASE_ENDS_AT] - now)
  end
  local refusedMs = msRefused(record, token)
  if refusedMs > 0 then return 'busy ' .. refusedMs end
  if record[TOKEN] ~= token or record[LEASE_ENDS_AT] == 0 then take(record, token, spacingMs) end
  record[LEASE_ENDS_AT] = now + tonumber(leaseMs)
  write(key, record, expiryMs)
  local age = now - record[FIRST_CLAIMED_AT]
  local attempt = record[ATTEMPT] + (isHold(token) and 1 or 0)
  return table.concat({
    'claimed', attempt, record[ABANDONED], age, record[SPACED_ATTEMPTS], record[HANDLED],
  }, ' ')
end

function operations.renew(key, token, leaseMs, expiryMs)
  if isLate then isRefused = true return '' end
  local record, isCompleted = read(key)
  if isCompleted then return 'completed' end
  record = record or begin()
  if record[TOKEN] == '' and msRefused(record, token) == 0 then
    take(record, token, 0)
  elseif record[TOKEN] ~= token or record[LEASE_ENDS_AT] == 0 then
    return 'lost'
  end
  record[LEASE_ENDS_AT] = now + tonumber(leaseMs)
  write(key, record, expiryMs)
  return 'held'
end

function operations.complete(key, token, leaseMs, expiryMs)
  redis.call('SET', key, '${COMPLETED}', 'PX', expiryMs)
  return 'completed'
end

function operations.release(key, token, refuseMs, expiryMs, handled)
  refuseMs = tonumber(refuseMs)
  local record, isCompleted = read(key)
  if isCompleted then return 'completed' end
  local isOwner = record and record[TOKEN] == token
  if not isOwner and refuseMs == 0 then return 'lost' end
  record = record or begin()
  if refuseMs > 0 then refuseClaims(record, token, refuseMs) end
  if not isOwner then
    write(key, record, math.max(redis.call('PTTL', key), refuseMs))
    return 'lost'
  end
  record[LEASE_ENDS_AT] = 0
  if handled ~= '' then record[HANDLED] = handled end
  write(key, record, math.max(tonumber(expiryMs), refuseMs))
  return 'released'
end

function operations.peek(key)
  local record, isCompleted = read(key)
  if isCompleted then return 'completed' end
  if record and record[LEASE_ENDS_AT] > now then return 'running' end
  return 'unknown'
end

local results = {}
for index, key in ipairs(KEYS) do
  local first = 3 + (index - 1) * ${ARGUMENT_COUNT}
  results[index] = operations[ARGV[first]](key, unpack(ARGV, first + 1, first + 4))
end
if isRefused then return refuse() end
return reply(unpack(results))
`,
  { mayBeLate: true },
);
