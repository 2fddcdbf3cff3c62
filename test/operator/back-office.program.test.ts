import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { createReceiver } from 'posthorn';
import { createFileDeadLetters } from 'posthorn/file';
import { toNodeOperator } from 'posthorn/operator';
import { describe, expect, test } from 'vitest';
import { directoryOf, inOrder } from '../cli/letters.ts';
import { ampleDeadlines } from '../support/limits.ts';
import { listenUntilTheEnd } from '../support/listen.ts';
import { KEY } from '../support/served.ts';
import { silenced } from '../support/silenced.ts';
import type { AnswerBody } from './mounts.ts';

const TOKEN = 'token_of_the_back_office';
const BEARER = ['--header', `Authorization: Bearer ${TOKEN}`];
const JSON_BODY = ['--header', 'Content-Type: application/json', '--data'];

interface Printed {
  readonly status: number;
  readonly type: string;
  readonly body: AnswerBody;
}

/** Without blocking: the server is in this process. */
async function curl(...args: readonly string[]): Promise<Printed> {
  const quiet = ['--silent', '--show-error', '--noproxy', '*'];
  const status = ['--write-out', '\\n%{http_code} %{content_type}'];
  const { stdout } = await promisify(execFile)('curl', [...quiet, ...status, ...args]);
  const [body = '', last = ''] = stdout.split('\n');
  const [code, type = ''] = last.split(' ');
  return { status: Number(code), type, body: JSON.parse(body) };
}

async function serveWithToken(): Promise<{ readonly url: string; readonly runs: readonly string[] }> {
  silenced('info');
  const deadLetters = createFileDeadLetters(await directoryOf(inOrder(['evt_1', 'evt_2', 'evt_3'])));
  const runs: string[] = [];
  const receiver = createReceiver({ signingKey: KEY, deadLetters, ...ampleDeadlines })
    .on('*', ({ id }) => void runs.push(id))
    .observe(() => {});
  const operator = toNodeOperator(receiver, {
    path: '/operator',
    authorize: ({ headers }) =>
      headers.get('authorization') === `Bearer ${TOKEN}` && { name: 'back office', bodies: true },
  });
  return { url: `${await listenUntilTheEnd(operator)}/operator/api/dead-letters`, runs };
}

describe('a back office that calls the interface by curl', () => {
  test('lists, shows, replays and drops with its token', async () => {
    const { runs, url } = await serveWithToken();
    expect(await curl(...BEARER, `${url}?limit=2`)).toMatchObject({
      status: 200,
      type: 'application/json',
      body: { deadLetters: [{ id: 'evt_1' }, { id: 'evt_2' }], after: 'evt_2' },
    });
    const second = await curl(...BEARER, `${url}?limit=2&after=evt_2`);
    expect(second.body).toEqual({ deadLetters: [expect.objectContaining({ id: 'evt_3' })] });
    const shown = await curl(...BEARER, `${url}/evt_2`);
    expect(shown.body.body).toContain('"id":"evt_2"');
    const replayed = await curl(...BEARER, ...JSON_BODY, '{"ids":["evt_1"]}', `${url}/replay`);
    expect(replayed.body.results).toMatchObject([{ id: 'evt_1', outcome: 'processed' }]);
    const dropped = await curl(...BEARER, ...JSON_BODY, '{"selection":{},"after":"evt_2"}', `${url}/drop`);
    expect(dropped.body.results).toMatchObject([{ id: 'evt_3', outcome: 'dropped' }]);
    expect(runs).toEqual(['evt_1']);
    expect((await curl(...BEARER, url)).body.deadLetters?.map(({ id }) => id)).toEqual(['evt_2']);
  });

  test('gets nothing with another token, and does nothing', async () => {
    const { runs, url } = await serveWithToken();
    const forbidden = { status: 403, type: 'application/problem+json', body: { code: 'forbidden' } };
    const other = ['--header', 'Authorization: Bearer another'];
    expect(await curl(url)).toMatchObject(forbidden);
    expect(await curl(...other, url)).toMatchObject(forbidden);
    const deed = [...JSON_BODY, '{"ids":["evt_1"]}', `${url}/replay`];
    expect(await curl(...other, ...deed)).toMatchObject(forbidden);
    expect(runs).toEqual([]);
  });

  test('is told to send JSON if it sends a form', async () => {
    const { runs, url } = await serveWithToken();
    expect(await curl(...BEARER, '--data', 'ids=evt_1', `${url}/replay`)).toMatchObject({
      status: 415,
      body: { code: 'media_type_unsupported', detail: expect.stringContaining('application/json') },
    });
    expect(runs).toEqual([]);
  });
});
