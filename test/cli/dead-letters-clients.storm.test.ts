import { expect, test } from 'vitest';
import { useRedis } from '../stores/redis/fixture.ts';
import { createProject, ioredis6, nodeRedis5, nodeRedis6 } from './client-project.ts';
import { posthorn } from './posthorn.ts';

const fixture = useRedis();

// Takes its five seconds.
test.each([nodeRedis6, nodeRedis5, ioredis6])(
  'a Redis that does not answer $client is exit code 3',
  async (installed) => {
    const { program, remove } = createProject(installed);
    try {
      fixture.redis.signal('SIGSTOP');
      const redis = `redis://127.0.0.1:${fixture.redis.port}`;
      const ended = await posthorn(`dead-letters list --scope a --redis ${redis}`, { program });
      expect(ended).toMatchObject({ code: 3, stdout: '' });
      expect(ended.stderr).toMatch(/^posthorn: Redis cannot be reached: .* \(unreachable\)\n$/);
    } finally {
      remove();
    }
  },
);
