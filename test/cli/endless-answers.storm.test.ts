import { describe, expect, test } from 'vitest';
import { openLiteralService } from '../service/client/literal-service.ts';
import { posthorn } from './posthorn.ts';

describe('a sandbox that does not answer, or not to the end', () => {
  const partOf = (body: string) => ({ body, headers: { 'content-length': '1000' }, end: 'hang' as const });
  const replies = [
    ['deliveries', 'hang'],
    ['trigger transfer.created', 'hang'],
    ['deliveries', partOf('[')],
    ['trigger transfer.created', partOf('{')],
  ] as const;

  test('is given up after 10 seconds, as one that is not there', async () => {
    // All at once, because each takes its ten seconds.
    const ended = replies.map(async ([command, reply]) => {
      const { url } = await openLiteralService(() => reply);
      return posthorn(command.split(' '), { env: { POSTHORN_SANDBOX: url } });
    });
    const unreachable = {
      code: 3,
      stdout: '',
      stderr: expect.stringMatching(/no sandbox answers at .* \(not within 10 s\).*\(unreachable\)\n$/),
    };
    expect(await Promise.all(ended)).toMatchObject(replies.map(() => unreachable));
  });
});
