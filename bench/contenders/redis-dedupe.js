const RETENTION_MS = 86_400_000;
const LEASE_MS = 20_000;

/**
 * Claims an id and completes it. `claim` resolves with false when the event was handled before.
 *
 * @typedef {{ claim: (id: string) => Promise<boolean>, complete: (id: string) => Promise<unknown> }} Dedupe
 */

/** @type {Readonly<Record<string, (redis: import('ioredis').Redis) => Promise<Dedupe>>>} */
export const dedupes = {
  /** One command: the id counts as handled before its handler has run. */
  one: async (redis) => ({
    claim: async (id) => (await redis.set(id, '1', 'PX', RETENTION_MS, 'NX')) === 'OK',
    complete: async () => {},
  }),

  /** Two plain commands: claimed for a while, then completed. */
  two: async (redis) => ({
    claim: async (id) => (await redis.set(id, 'claimed', 'PX', LEASE_MS, 'NX')) === 'OK',
    complete: (id) => redis.set(id, '1', 'PX', RETENTION_MS),
  }),

  /** The same by scripts that know an owner. */
  scripts: async (redis) => {
    const [claim, complete] = await Promise.all([CLAIM, COMPLETE].map((text) => redis.script('LOAD', text)));
    let claims = 0;
    return {
      claim: async (id) => {
        claims += 1;
        return (await redis.evalsha(String(claim), 1, id, `token-${claims}`, LEASE_MS)) === 'claimed';
      },
      complete: (id) => redis.evalsha(String(complete), 1, id, RETENTION_MS),
    };
  },
};

const CLAIM = `
local value = redis.call('GET', KEYS[1])
if value == '1' then return 'completed' end
if value and value ~= ARGV[1] then return 'busy' end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 'claimed'
`;

const COMPLETE = `
redis.call('SET', KEYS[1], '1', 'PX', ARGV[1])
return 'completed'
`;
