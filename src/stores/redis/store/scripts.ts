import { createScript, type Script } from '../script.ts';

/** The value of a completed id. Redis shares one object for each small integer, so it costs no memory. */
const COMPLETED = '1';

/**
 * Each operation has five arguments: its name, the token, the lease and
 * the expiry in milliseconds, and a detail.
 */
const ARGUMENT_COUNT = 5;

/**
 * Runs one operation on each of its keys, and returns the result of each as text. Late completions and
 * releases are carried out too: a completed event was handled, however late, and an id that is not released
 * counts as abandoned.
 *
 * An open claim is one packed list in one string, which takes the least memory in Redis. The end of its lease
 * is 0 once the claim is released. Times are in milliseconds since the epoch.
 */
export const OPERATIONS: Script = createScript(
  `
local isRefused = false
local TOKEN, LEASE_ENDS_AT, ATTEMPT, SPACED_ATTEMPTS, COUNTED_AT, FIRST_CLAIMED_AT, ABANDONED, HANDLED =
  1, 2, 3, 4, 5, 6, 7, 8

local function read(key)
  local value = redis.call('GET', key)
  if value == '${COMPLETED}' then return nil, true end
  return value and cmsgpack.unpack(value), false
end

local function write(key, record, expiryMs)
  redis.call('SET', key, cmsgpack.pack(record), 'PX', expiryMs)
end

local function begin(token)
  return { token, 0, 1, 1, now, now, 0, '' }
end

local operations = {}

function operations.claim(key, token, leaseMs, expiryMs, spacingMs)
  if isLate then isRefused = true return '' end
  local record, isCompleted = read(key)
  if isCompleted then return 'completed' end
  if not record then
    record = begin(token)
  elseif record[TOKEN] ~= token and record[LEASE_ENDS_AT] > now then
    return 'busy ' .. (record[LEASE_ENDS_AT] - now)
  elseif record[TOKEN] ~= token or record[LEASE_ENDS_AT] == 0 then
    local elapsed = now - record[COUNTED_AT]
    -- A clock that was set back says nothing of the time between two claims: one too few counted would lose the event.
    if elapsed < 0 or elapsed >= tonumber(spacingMs) then
      record[SPACED_ATTEMPTS] = record[SPACED_ATTEMPTS] + 1
      record[COUNTED_AT] = now
    end
    if record[LEASE_ENDS_AT] > 0 then record[ABANDONED] = record[ABANDONED] + 1 end
    record[ATTEMPT] = record[ATTEMPT] + 1
    record[TOKEN] = token
  end
  record[LEASE_ENDS_AT] = now + tonumber(leaseMs)
  write(key, record, expiryMs)
  local age = now - record[FIRST_CLAIMED_AT]
  return table.concat({
    'claimed', record[ATTEMPT], record[ABANDONED], age, record[SPACED_ATTEMPTS], record[HANDLED],
  }, ' ')
end

function operations.renew(key, token, leaseMs, expiryMs)
  if isLate then isRefused = true return '' end
  local record, isCompleted = read(key)
  if isCompleted then return 'completed' end
  if not record then
    record = begin(token)
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

function operations.release(key, token, leaseMs, expiryMs, handled)
  local record, isCompleted = read(key)
  if isCompleted then return 'completed' end
  if not record or record[TOKEN] ~= token then return 'lost' end
  record[LEASE_ENDS_AT] = 0
  if handled ~= '' then record[HANDLED] = handled end
  write(key, record, expiryMs)
  return 'released'
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
