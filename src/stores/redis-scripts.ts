import { createScript, type Script } from '../redis/commands.ts';

/** The value of a completed id: Redis shares one object among all small integers, so it costs no room. */
export const COMPLETED = '1';

/**
 * What the scripts share. An open claim is one packed list in one string, the least that Redis can keep it in. The end of
 * its lease is 0 once it is released; times are in milliseconds since the epoch.
 */
const record = `
local key = KEYS[1]
local value = redis.call('GET', key)
if value == '${COMPLETED}' then return { now, 'completed' } end

local token, leaseEndsAt, attempt, spacedAttempts, countedAt, firstClaimedAt, abandoned, handled
if value then
  token, leaseEndsAt, attempt, spacedAttempts, countedAt, firstClaimedAt, abandoned, handled =
    unpack(cmsgpack.unpack(value))
end

local function write(expiryMs)
  local packed = cmsgpack.pack({
    token, leaseEndsAt, attempt, spacedAttempts, countedAt, firstClaimedAt, abandoned, handled,
  })
  redis.call('SET', key, packed, 'PX', expiryMs)
end

local function begin(newToken)
  token, attempt, spacedAttempts, countedAt, firstClaimedAt, abandoned, handled = newToken, 1, 1, now, now, 0, ''
end
`;

/** token, leaseMs, expiryMs, attemptSpacingMs */
export const CLAIM: Script = createScript(`${record}
local newToken, leaseMs, expiryMs, spacingMs = ARGV[2], tonumber(ARGV[3]), ARGV[4], tonumber(ARGV[5])

if not value then
  begin(newToken)
elseif token ~= newToken and leaseEndsAt > now then
  return { now, 'busy', leaseEndsAt - now }
elseif token ~= newToken or leaseEndsAt == 0 then
  if now - countedAt >= spacingMs then
    spacedAttempts = spacedAttempts + 1
    countedAt = now
  end
  if leaseEndsAt > 0 then abandoned = abandoned + 1 end
  attempt = attempt + 1
  token = newToken
end
leaseEndsAt = now + leaseMs
write(expiryMs)
return { now, 'claimed', attempt, abandoned, now - firstClaimedAt, spacedAttempts, handled }
`);

/** token, leaseMs, expiryMs */
export const RENEW: Script = createScript(`${record}
if not value then
  begin(ARGV[2])
elseif token ~= ARGV[2] or leaseEndsAt == 0 then
  return { now, 'lost' }
end
leaseEndsAt = now + tonumber(ARGV[3])
write(ARGV[4])
return { now, 'held' }
`);

/** token, expiryMs, handled. Late is better than never: until then the id is busy, and then counts as abandoned. */
export const RELEASE: Script = createScript(
  `${record}
if not value or token ~= ARGV[2] then return { now, 'lost' } end
leaseEndsAt = 0
if ARGV[4] ~= '' then handled = ARGV[4] end
write(ARGV[3])
return { now, 'released' }
`,
  { mayBeLate: true },
);
