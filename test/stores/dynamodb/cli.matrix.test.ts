import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createDynamoDeadLetters } from 'posthorn/dynamodb';
import { describe, expect, test } from 'vitest';
import { letter } from '../../cli/letters.ts';
import { jsonLines, posthorn } from '../../cli/posthorn.ts';
import { packageRoot } from '../../support/child-program.ts';
import { copyPackage } from '../../support/copied-package.ts';
import { ampleTime } from '../../support/limits.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { useDynamo } from './fixture.ts';

const RECEIVER = `
  import { createReceiver } from 'posthorn';
  export const receiver = createReceiver({ signingKey: 'k' });
  receiver.on('*', (event) => console.log('handling', event.id), { name: 'book' });
`;

/** So that the commands find nothing of the machine that the tests run on. */
const nothing = {
  AWS_CONFIG_FILE: '/nonexistent',
  AWS_SHARED_CREDENTIALS_FILE: '/nonexistent',
  AWS_EC2_METADATA_DISABLED: 'true',
  // Else the SDK warns on Node.js 20.
  AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true',
};

describe('posthorn dead-letters on DynamoDB', () => {
  const dynamo = useDynamo();
  const { table } = dynamo;

  const environment = () => ({
    ...nothing,
    AWS_ENDPOINT_URL_DYNAMODB: dynamo.proxy.url,
    AWS_REGION: 'eu-central-1',
    AWS_ACCESS_KEY_ID: 'test',
    AWS_SECRET_ACCESS_KEY: 'test',
  });
  const run = (args: readonly string[], env: NodeJS.ProcessEnv = environment()) =>
    posthorn(['dead-letters', ...args], { env });

  const message = (code: number, pattern: RegExp) => ({
    code,
    stdout: '',
    stderr: expect.stringMatching(pattern),
  });

  test('lists, shows, replays and drops the letters of a scope, and ends by itself', async () => {
    const scope = randomUUID();
    const deadLetters = createDynamoDeadLetters(dynamo.client, { table, scope, ...ampleTime });
    for (let count = 0; count < 10; count += 1) await deadLetters.put(letter(`evt_${count}`));
    const place = ['--scope', scope, '--dynamodb', table];
    const listed = await run(['list', ...place, '--json']);
    expect(listed).toMatchObject({ code: 0, stderr: '' });
    const ids = Array.from({ length: 10 }, (_, index) => `evt_${index}`);
    expect(jsonLines(listed).map(({ id }) => id)).toEqual([...ids, undefined]);
    const shown = await run(['show', 'evt_7', ...place]);
    expect(shown).toMatchObject({ code: 0, stdout: expect.stringContaining('"data":{"amount":5}}\n') });

    // Inside the package, so that it can import it by its name.
    const receiver = join(temporaryDirectory(join(packageRoot, 'dist')), 'receiver.js');
    writeFileSync(receiver, RECEIVER);
    const replayed = await run(['replay', 'evt_7', '--receiver', receiver, ...place]);
    expect(replayed).toMatchObject({ code: 0, stdout: expect.stringContaining('handling evt_7\n') });
    expect(await deadLetters.get('evt_7')).toBeUndefined();

    // An address in the environment is that of something else.
    const env = { ...environment(), REDIS_URL: 'redis://127.0.0.1:1' };
    const dropped = await run(['drop', '--all', '--yes', ...place, '--json'], env);
    expect(jsonLines(dropped).at(-1)).toMatchObject({ dropped: 9 });
    expect(await deadLetters.get('evt_0')).toBeUndefined();
  });

  test('says what is wrong with the table, the region and the credentials', async () => {
    const list = (name: string, env?: NodeJS.ProcessEnv) =>
      run(['list', '--scope', 'a', '--dynamodb', name], env);
    expect(await list('missing')).toEqual(message(3, /the table does not exist in this account and region/));
    expect(await list('a b')).toEqual(message(2, /table of createDynamoDeadLetters must be the name or/));
    expect(await list(table, nothing)).toEqual(message(2, /region of the table is missing: set AWS_REGION/));
    const anonymous = { ...environment(), AWS_ACCESS_KEY_ID: undefined, AWS_SECRET_ACCESS_KEY: undefined };
    expect(await list(table, anonymous)).toEqual(message(3, /the client has no credentials: give it some/));
  });

  test('takes one place of the letters', async () => {
    const place = ['list', '--dynamodb', table];
    expect(await run(place)).toEqual(message(2, /the scope of the dead letters is missing: give --scope/));
    const others = [
      ['--redis', 'redis://127.0.0.1:1'],
      ['--postgres', 'postgres://127.0.0.1:1'],
      ['--sqlite', 'events.db'],
    ];
    for (const other of others) {
      expect(await run([...place, '--scope', 'a', ...other])).toEqual(
        message(
          2,
          /give one of --redis, --postgres, --sqlite and --dynamodb: the dead letters are in one place/,
        ),
      );
    }
    expect(await run([...place, '--scope', 'a', '--dir', '.'])).toEqual(
      message(2, /give one of --dir and --scope/),
    );
  });

  test('names the package that is not installed, and no other place needs it', async () => {
    const copy = copyPackage();
    try {
      const program = join(copy.root, 'dist', 'src', 'cli', 'bin.js');
      const list = (...place: string[]) =>
        posthorn(['dead-letters', 'list', ...place], { program, env: environment() });
      expect(await list('--scope', 'a', '--dynamodb', table)).toEqual(
        message(2, /@aws-sdk\/client-dynamodb, which is not installed: npm install "@aws-sdk.*@\^3\.\d+\.0"/),
      );
      expect(await list('--dir', temporaryDirectory())).toMatchObject({ code: 0, stderr: '' });
    } finally {
      copy.remove();
    }
  });
});
