import { createScript, type Script } from '../redis/commands.ts';

/** The value of a completed id: Redis shares one object among all small integers, so it costs no room. */
const COMPLETED = '1';

/**
 * What the scripts share. An open claim is one packed list in one string, the least that Redis can keep it in. The end of
 * its lease is 0 once it is released; times are in milliseconds since the epoch.
 */
const record = `
local key = KEYS[1]
local value = redis.call('GET', key)
if value == '${COMPLETED}' then return reply('completed') end

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
local newToken, leaseMs, expiryMs, spacingMs = ARGV[3], tonumber(ARGV[4]), ARGV[5], tonumber(ARGV[6])

if not value then
  begin(newToken)
elseif token ~= newToken and leaseEndsAt > now then
  return reply('busy', leaseEndsAt - now)
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
return reply('claimed', attempt, abandoned, now - firstClaimedAt, spacedAttempts, handled)
`);

/** token, leaseMs, expiryMs */
export const RENEW: Script = createScript(`${record}
if not value then
  begin(ARGV[3])
elseif token ~= ARGV[3] or leaseEndsAt == 0 then
  return reply('lost')
end
leaseEndsAt = now + tonumber(ARGV[4])
write(ARGV[5])
return reply('held')
`);

/** expiryMs. Whoever holds the id, and however late: the event was handled. */
export const COMPLETE: Script = createScript(
  `
redis.call('SET', KEYS[1], '${COMPLETED}', 'PX', ARGV[3])
return reply('completed')
`,
  { mayBeLate: true },
);

/** token, expiryMs, handled. Late is better than never: until then the id is busy, and then counts as abandoned. */
export const RELEASE: Script = createScript(
  `${record}
if not value or token ~= ARGV[3] then return reply('lost') end
leaseEndsAt = 0
if ARGV[5] ~= '' then handled = ARGV[5] end
write(ARGV[4])
return reply('released')
`,
  { mayBeLate: true },
);
